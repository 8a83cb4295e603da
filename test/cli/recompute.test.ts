import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test, vi } from "vitest";

import { parseCommandLine } from "../../src/cli/core/adapter.js";
import { addDifferences, difference, giveUp } from "../http/admin/support/recomputes.js";
import { snapshot } from "../support/service.js";
import { useOwner } from "./support/owner.js";
import { standIn } from "./support/recompute-worker.js";
import { type RunOptions, steady } from "./support/run-svc.js";

const service = useOwner();
const worker = standIn(service, () => slug);
let slug = "";
let projects = 0;
/** Each test has its own project, with v1 deployed to test. */
beforeEach(async () => {
  slug = `p${projects++}`;
  await service.addProject(slug);
  await service.ask("POST", `/projects/${slug}/config-versions`, { snapshot: snapshot() });
});

/** Runs `svc recompute …`; replaces what differs from run to run. */
async function recompute(argv: string[], options: RunOptions = {}) {
  const env = { NO_COLOR: "1" };
  const result = await service.svc(["recompute", ...argv, "--project", slug], { env, ...options });
  const shown = steady(result, [
    [/rec_[0-9a-f]{20}/g, "rec_<id>"],
    [` --project ${slug}`, " --project <slug>"],
    [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+\d\d:\d\d/g, "<instant>"],
  ]);
  return { ...shown, raw: result.stdout };
}

/** Runs a recompute that a worker completes. */
async function completed(argv: string[], ...results: Parameters<typeof worker.complete>) {
  const [result] = await Promise.all([recompute(argv), worker.complete(...results)]);
  expect(result.code).toBe(0);
  return result;
}

/** Queues a recompute; returns its id. */
async function queued(...argv: string[]): Promise<string> {
  return (JSON.parse((await recompute([...argv, "--no-wait", "--json"])).raw) as { id: string }).id;
}

/** Makes the next job a dead letter. */
async function fails(error: string): Promise<string> {
  const id = await worker.next();
  await worker.write(id, `status = 'dead_letter', finished_at = now(), error = '${error}'`);
  return id;
}

const jobs = async () => {
  const reply = await service.ask("GET", `/projects/${slug}/recomputes?env=test`);
  return (reply.body as { data: { id: string; status: string; dry_run: boolean; customerId: string | null }[] }).data;
};

const score = (overall: number) => ({ overall, components: { usage: overall } });
const DIFFERENCES = [
  difference(
    "globex",
    {
      health: { before: score(81.5), after: score(40) },
      segments: { before: ["trial"], after: ["paying"] },
      rules: [
        {
          ...{ ruleId: "r", result: "pass", triggeredBy: "event:login", conditions: {}, action: {} },
          executedAt: "2026-03-02T10:00:00.000Z",
        },
      ],
      rulesOmitted: 1_200,
      rulesRemoved: 3,
    },
    3,
  ),
  difference("initech", { lifecycle: { before: null, after: null }, health: { before: null, after: null } }, 2),
];
const TOTALS =
  "lifecycle_changed = 1, health_changed = 1, segments_entered = 2, segments_exited = 1, rules_added = 1201, rules_removed = 3, emissions_added = 0";

describe("svc recompute", () => {
  test("with --json the document has every customer, however many pages they take; if none differs it says so", async () => {
    const many = Array.from({ length: 250 }, (_, n) => difference(`c${String(n).padStart(3, "0")}`));
    const { raw } = await completed(["--all", "--dry-run", "--json"], many, TOTALS);
    const [job] = await jobs();
    const document = JSON.parse(raw) as { result: object };
    expect(document).toMatchObject({ ...job, result: { customersChanged: 250, lifecycleChanged: 1 } });
    const customers = many.map((item) => item.document);
    expect(document.result).toHaveProperty("customers", customers);

    const { stdout } = await completed(["--customer", "nobody", "--dry-run"], []);
    expect(stdout).toMatch(/of the customer nobody in test\n[^]*Nothing would change\./);
    expect(stdout).not.toContain("History");
  });

  test("says since when the history is complete, if retention has removed a part", async () => {
    const { stdout } = await completed(["--all", "--dry-run"], [], "exact_from = '2026-01-02T03:04:05.678Z'");
    expect(stdout).toMatch(/History +retention has removed operations that were accepted before <instant>,/);
  });

  test("numbers in the document keep all their digits", async () => {
    const id = await queued("--all", "--dry-run");
    await worker.complete([difference("globex", { emissions: [{ eventType: "e", metadata: { n: "digits" } }] })]);
    await service.db.sql`
      update svc.recompute_customers
      set difference = replace(difference::text, '"digits"', '12345678901234567890.5')::json where recompute_id = ${id}`;
    expect((await recompute(["status", id, "--json", "--customers"])).raw).toContain("12345678901234567890.5");
  });

  test("--no-wait returns once it is queued", async () => {
    expect(await recompute(["--all", "--yes", "--no-wait"])).toMatchObject({
      ...{ code: 0, stderr: "" },
      stdout: "Queued rec_<id>. See its progress: svc recompute status rec_<id> --env test --project <slug>\n",
    });
    expect(await jobs()).toMatchObject([{ status: "queued", dry_run: false, customerId: null }]);
    const { raw } = await recompute(["--customer", "globex", "--dry-run", "--no-wait", "--json"]);
    expect(JSON.parse(raw)).toEqual((await jobs())[0]);
  });

  test("reports failed attempts, and keeps waiting", async () => {
    const output = watch();
    const fail = async (id: string, error: string) => {
      const change = `status = 'retrying', next_attempt_at = '2026-03-14T10:00:05Z', error = '${error}'`;
      await worker.write(id, change);
      await output.until(error);
    };
    const [{ code, stderr }] = await Promise.all([
      recompute(["--all", "--yes"], { onStderr: output.see }),
      worker.next().then(async (id) => {
        await fail(id, "It failed.");
        await fail(id, "It failed once more.");
        const done = "status = 'completed', next_attempt_at = null, error = null, finished_at = now()";
        await worker.write(id, `${done}, customers_total = 0`);
      }),
    ]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      "Queued rec_<id>. Ctrl+C stops waiting for it, and nothing else.\n" +
        "rec_<id> | it failed and will be tried again at <instant>: It failed.\n" +
        "rec_<id> | it failed and will be tried again at <instant>: It failed once more.\n",
    );
  });

  test("a dead letter is a failure, which says once what is done and how to continue", async () => {
    const progress = "2 of 3 customers are done and stay as recomputed, the others are unchanged.";
    // The service gives the same advice without the environment.
    const error = `The run failed: division by zero. ${progress} When the cause is fixed: svc recompute retry rec_1`;
    const [shown, id] = await Promise.all([recompute(["--all", "--yes"]), fails(error)]);
    expect(shown).toMatchObject({ code: 1, stdout: "" });
    expect(shown.stderr).toContain(
      `error [DEAD_LETTER]: The run failed: division by zero. ${progress} ` +
        "Resume where it ended: svc recompute retry rec_<id> --env test --project <slug>.\n",
    );
    const { stdout } = await recompute(["status", id]);
    expect(stdout.match(/svc recompute retry \S+.*/g)).toEqual([
      "svc recompute retry rec_<id> --env test --project <slug>",
    ]);
    const [json] = await Promise.all([recompute(["--all", "--yes", "--json"]), fails(progress)]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.raw)).toMatchObject({
      error: { code: "DEAD_LETTER", message: progress, value: { status: "dead_letter" } },
    });
  });

  test("a narrow terminal cuts no transition, and names the columns that do not fit", async () => {
    const id = await queued("--all", "--dry-run");
    await worker.complete(DIFFERENCES, TOTALS);
    const { stdout } = await recompute(["status", id], { terminal: true, columns: 45 });
    expect(stdout.slice(stdout.indexOf("Customer  L"), stdout.indexOf("\n\nNothing"))).toMatchInlineSnapshot(`
      "Customer  Lifecycle          Health
      globex    trial → activated  81.5 → 40
      initech
      The terminal is too narrow for: Segments, Rules."
    `);
    expect((await recompute(["status", id])).stdout).toMatch(
      /^globex +trial → activated +81\.5 → 40 +\+paying -trial +\+1,201 -3$/m,
    );
  });

  test("a terminal shows a progress bar", async () => {
    const output = watch();
    const [{ code }] = await Promise.all([
      recompute(["--all", "--dry-run"], { terminal: true, onStderr: output.see }),
      worker.next().then(async (id) => {
        await worker.write(id, "customers_total = 20000, customers_done = 400");
        await output.until("400/20000 customers");
        await worker.write(id, "status = 'completed', customers_done = 20000, finished_at = now()");
      }),
    ]);
    expect(code).toBe(0);
    await output.until("100 % | 20000/20000 customers");
  });
});

/** Waits for texts that a command prints to standard error. */
function watch() {
  let text = "";
  return {
    see: (all: string) => (text = all),
    until: (part: string) => vi.waitFor(() => expect(text).toContain(part), { timeout: 20_000, interval: 20 }),
  };
}

test("--from needs the confirmation of the dry run's scope, and refuses a job that is no dry run or does not exist", async () => {
  const all = await queued("--all", "--dry-run");
  const from = async (id: string, ...more: string[]) => (await recompute(["--from", id, "--no-wait", ...more])).stderr;
  expect(await from(all)).toContain('needs the word "test"');
  const one = await queued("--customer", "globex", "--dry-run");
  expect(await from(one)).toContain("Recomputing a customer needs a confirmation");
  await from(all, "--yes");
  const [job] = await jobs();
  expect(job).toMatchObject({ dry_run: false, customerId: null });
  expect(await from(job!.id, "--yes")).toContain("error [RECOMPUTE_NOT_A_DRY_RUN]");
  expect(await from("rec_1", "--yes")).toContain("error [RECOMPUTE_NOT_FOUND]");
});

describe("a job that takes over pins names them", () => {
  const deployV2 = () =>
    service.ask("POST", `/projects/${slug}/config-versions`, {
      snapshot: snapshot({ segments: [{ id: "later" }] }),
      force: true,
    });
  const givenUp = async (...argv: string[]) => {
    const id = await queued(...argv);
    await giveUp(service.db.sql, await worker.next());
    return id;
  };
  /** A dry run of all customers that is completed. */
  const shown = async () => {
    const id = await queued("--all", "--dry-run");
    await worker.write(id, "status = 'completed', finished_at = now(), customers_total = 3, customers_done = 3");
    return id;
  };
  const WARNING =
    "warning: customers will have states under v1 while v2 is active in test; " +
    "for v2, queue a new dry run: svc recompute --all --dry-run --env test --project <slug>\n";

  test("a run from a dry run: version, instant, scope and dry run, with --yes before anything else", async () => {
    const dryRun = await shown();
    const { stderr } = await recompute(["--from", dryRun, "--no-wait", "--yes"]);
    expect(stderr).toBe("Recompute of all customers in test under v1, as of <instant>, as in the dry run rec_<id>.\n");
    const piped = await recompute(["--from", dryRun, "--no-wait"], { input: "test\n" });
    expect(piped).toMatchObject({ code: 0, stderr });
    const one = await recompute(["--from", await queued("--customer", "globex", "--dry-run"), "--no-wait", "--yes"]);
    expect(one.stderr).toContain("Recompute of the customer globex in test under v1");
  });

  test("it warns if the dry run has not looked at all customers", async () => {
    const dryRun = await queued("--all", "--dry-run");
    const from = async () => (await recompute(["--from", dryRun, "--no-wait", "--yes"])).stderr;
    expect(await from()).toContain("\nwarning: the dry run looked at no customer; more may change than it shows\n");
    await worker.write(dryRun, "customers_total = 3, customers_done = 1");
    await recompute(["cancel", dryRun, "--yes"]);
    expect(await from()).toContain(
      "\nwarning: the dry run looked at 1 of 3 customers; more may change than it shows\n",
    );
  });

  test.each([["--yes"], ["--yes", "--json"]])("it warns if another version is active: %s %s", async (...argv) => {
    const dryRun = await shown();
    await deployV2();
    const { code, stderr } = await recompute(["--from", dryRun, "--no-wait", ...argv]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `Recompute of all customers in test under v1, as of <instant>, as in the dry run rec_<id>.\n${WARNING}`,
    );
    const again = await recompute(["--from", dryRun, "--dry-run", "--no-wait"]);
    expect(again.stderr).toContain("warning: this uses v1, but v2 is active in test now; for v2");
  });

  test("a retry of all customers says how many are done, and warns", async () => {
    const id = await givenUp("--all", "--yes");
    await deployV2();
    const other = await recompute(["retry", id, "--no-wait"], { terminal: true, input: "live\n" });
    expect(other.stderr).toContain(WARNING);
    expect(await jobs()).toMatchObject([{ status: "dead_letter" }]);

    const { code, stderr } = await recompute(["retry", id, "--no-wait", "--yes"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Recompute rec_<id> of all customers in test under v1, as of <instant>; 2 of 3 customers are done.\n${WARNING}`,
    });
    expect(await jobs()).toMatchObject([{ status: "queued" }]);
  });

  test("a retry of one customer asks yes or no, and one of a dry run nothing", async () => {
    const one = await givenUp("--customer", "globex", "--yes");
    const refused = await recompute(["retry", one, "--no-wait"]);
    expect(refused.stderr).toContain("Recomputing a customer needs a confirmation");
    const confirmed = await recompute(["retry", one, "--no-wait"], { terminal: true, input: "y\n" });
    expect(confirmed.code).toBe(0);
    expect(confirmed.stderr).toContain("Recompute the customer globex in test");
    await worker.complete([], "last_customer_id = null");

    const dryRun = await givenUp("--all", "--dry-run");
    expect(await recompute(["retry", dryRun, "--no-wait"])).toMatchObject({
      code: 0,
      stderr: "Dry run rec_<id> of all customers in test under v1, as of <instant>; 2 of 3 customers are done.\n",
    });
  });
});

describe("svc recompute status, list and retry", () => {
  test("status shows the progress", async () => {
    await recompute(["--all", "--yes", "--no-wait"]);
    const id = await worker.next();
    await worker.write(id, "customers_total = 20000, customers_done = 4000, attempt = 2, lifecycle_changed = 7");
    const { stdout } = await recompute(["status", id]);
    expect(stdout).toMatch(/^Status +running\nModel .*\nAs of .*\nDone +4,000 of 20,000 customers\nAttempts +2$/m);
    expect(stdout).toMatch(/^Lifecycle +7 customers moved$/m);
    const { raw } = await recompute(["status", id, "--json"]);
    expect(JSON.parse(raw)).toEqual((await jobs())[0]);
  });

  test("list shows jobs, newest first, and continues by cursor", async () => {
    await completed(["--all", "--dry-run"], DIFFERENCES, TOTALS);
    await recompute(["--customer", "globex", "--yes", "--no-wait"]);
    // Two days before the instant that the command takes as now.
    await service.db.sql`update svc.recomputes set requested_at = '2026-03-12T10:00:00Z'`;
    const { code, stdout } = await recompute(["list"]);
    expect({ code, stdout }).toMatchInlineSnapshot(`
      Recompute                 Kind       Customer  Model  Status     Done  Changed  Requested   By
      rec_<id>  recompute  globex    v1     queued                 0  2 days ago  owner@acme.example
      rec_<id>  dry run    all       v1     completed   3/3        2  2 days ago  owner@acme.example
    `);
    expect((await recompute(["list", "--limit", "1"])).stderr).toContain("There are more: add --cursor ");
    expect((await recompute(["list", "--status", "dead_letter"])).stdout).toBe("There is no such recompute.\n");
  });

  test("retry continues a dead letter, and waits for it", async () => {
    const id = await queued("--all", "--yes");
    expect((await recompute(["retry", id])).stderr).toContain("error [RECOMPUTE_NOT_DEAD]");
    await fails("It failed.");
    const status = await recompute(["status", id]);
    expect(status.stdout).toContain("To resume it: svc recompute retry rec_<id> --env test --project <slug>");
    const { stdout } = await completed(["retry", id, "--yes"], DIFFERENCES, TOTALS);
    expect(stdout).toContain("Recompute rec_<id> of all customers in test");
    expect(stdout).toContain("1 customer moved");
  });
});

test("cancel ends one that waits, says what became of it, and how to resume it", async () => {
  const id = await queued("--all", "--yes");
  expect((await recompute(["cancel", id])).stderr).toContain("error [CONFIRMATION_REQUIRED]");
  const { code, stdout } = await recompute(["cancel", id, "--yes"]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      "Cancelled by owner@acme.example. Nothing was changed.\nTo resume it: svc recompute retry rec_<id> --env test --project <slug>\n",
  });
  expect((await recompute(["cancel", id, "--yes"])).stderr).toContain("error [RECOMPUTE_FINISHED]");
});

const guide = readFileSync(new URL("../../docs/recompute.md", import.meta.url), "utf8");
const block = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, code]) => code!);

describe("docs/recompute.md", () => {
  const lines = block("bash")
    .flatMap((code) => [...code.matchAll(/\bsvc ((?:deploy|recompute)[^\n>]*)/g)])
    .map(([, line]) => line!.trim());

  test("its command lines parse", async () => {
    for (const line of lines) {
      const parsed = await parseCommandLine(line.split(" "), { width: 100, version: "0" });
      expect([line, parsed.kind]).toEqual([line, "run"]);
    }
  });

  test("its dry run shows the command's output, as does the status of the job later", async () => {
    // In addition to the existing customer.
    for (const id of ["a", "b", "c"]) {
      const body = { snapshot: snapshot({ segments: [{ id }] }), force: true };
      await service.ask("POST", `/projects/${slug}/config-versions?env=live`, body);
    }
    const example = JSON.parse(block("json")[0]!) as { rules: object[]; emissions: object[] };
    const emission = example.emissions[0];
    const none = { health: { before: null, after: null }, segments: { before: [], after: [] } };
    const churns = { lifecycle: { before: "activated", after: "churned" }, emissions: [emission] };
    const pays = { lifecycle: { before: "trial", after: "trial" }, segments: { before: [], after: ["paying"] } };
    const { raw } = await completed(
      ["--all", "--dry-run", "--env", "live"],
      [
        difference("globex", { ...example, emissions: [emission, emission, emission, emission] }, 9),
        difference("umbrella", { ...none, ...churns }, 8),
        difference("initech", { ...none, ...pays, emissions: [emission] }, 7),
      ],
      `pinned_at = '2026-03-14T09:00:00Z', lifecycle_changed = 2, health_changed = 1,
       segments_entered = 2, segments_exited = 1, signals_raised = 2, signals_cleared = 1, rules_added = 1, rules_removed = 2, emissions_added = 6`,
      20_000,
    );
    expect(raw.replace(` --project ${slug}`, "").replaceAll(/rec_[0-9a-f]{20}/g, "rec_5f0c2a9e7b1d4c3a5f0c")).toBe(
      block("text")[0],
    );
    const [id] = /rec_[0-9a-f]{20}/.exec(raw)!;
    expect((await recompute(["status", id, "--env", "live"])).raw).toBe(raw);
  });

  test("its difference is a valid answer of the service", async () => {
    const example = JSON.parse(block("json")[0]!) as { customerId: string };
    const id = await queued("--all", "--dry-run");
    await addDifferences(service.db.sql, id, [{ customerId: example.customerId, weight: 1, document: example }]);
    // The request fails unless the answer has exactly the declared shape.
    const page = await service.ask("GET", `/projects/${slug}/recomputes/${id}/customers`);
    expect(page.body).toEqual({ data: [example], nextCursor: null });
  });
});
