import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, describe, expect, test, vi } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { brokenServer } from "./support/broken-server.js";
import { type RunOptions, steady } from "./support/run-svc.js";
import { running } from "./support/running.js";
import { startShop, untilQuiet } from "./support/shop.js";

// Commands on one shop. docs/walk.md shows more of their output without a terminal, which walk.test.ts compares. Ordered by what they
// change: nothing at first, customers at the end.

const shop = await startShop();
afterAll(() => shop.stop());

const plain = { terminal: true, env: { NO_COLOR: "1" } };
const documentOf = async (argv: string[]) =>
  JSON.parse((await shop.raw([...argv, "--json"])).stdout) as { data: unknown[] };

const stdoutOf = async (argv: string[], options?: RunOptions) => {
  const { code, stdout, stderr } = await shop.run(argv, options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

describe("svc customers inspect", () => {
  test("on a terminal, uses coloured signs, and puts below the conditions what does not fit next to them", async () => {
    const why = (await stdoutOf(["customers", "inspect", "globex"], { terminal: true })).split("Why")[1];
    expect(why).toMatchInlineSnapshot(`
      "[22m
        lifecycle: [36mactivated[39m
          to at_risk when
            [31m✗[39m no event for 21d
              [2mlast event <time> (3 days ago)[22m
              [2mcomes by itself in 17 days (<time>)[22m
        journey [36monboarding[39m: complete
        segment [36mpower_users[39m: a member
          [32m✓[39m all of 2, all are met
            [2mends by itself in 47 days (<time>)[22m
            [32m✓[39m plan is "pro"  [2mit is pro[22m
            [32m✓[39m count of "project_created" where seats at least 5 within 60d at least 2
              [2mit is 2[22m
              [2mends by itself in 47 days (<time>)[22m
        segment [36mbig_spenders[39m: a member
          [32m✓[39m sum of amount of "invoice_paid" within 90d at least 1000
            [2mit is 1200[22m
            [2mends by itself in 81 days (<time>)[22m
        health: see svc health explain globex
        signal [36mescalation[39m: not raised
      "
    `);
  });

  test("with --json prints only the state, and with --explain the explanation too", async () => {
    const state = await stdoutOf(["customers", "inspect", "hooli", "--json"]);
    const both = await stdoutOf(["customers", "inspect", "hooli", "--json", "--explain"]);
    const parsed = JSON.parse(both) as { state: object; explanation: object };
    expect(parsed.state).toEqual(JSON.parse(state));
    expect(parsed.explanation).toMatchObject({ customerId: "hooli", lifecycle: { state: "trial" }, unavailable: null });
  });
});

describe("svc health explain", () => {
  test("fits a terminal of 80 columns; with --json it prints the document of the service", async () => {
    const stdout = await stdoutOf(["health", "explain", "initech", "--no-color"], { terminal: true });
    expect(stdout.split("\n\n").at(-1)).toMatchInlineSnapshot(`
      "Component   Score  Weight    Points  Measured                               Then
      adoption       25     0.6  15 of 60  count of "project_created" within 60d  1
      commercial     30     0.4  12 of 40  plan                                   free
      "
    `);
    expect(JSON.parse(await stdoutOf(["health", "explain", "globex", "--json"]))).toMatchObject({
      score: { overall: 85, band: "healthy" },
      factors: { components: [{ component: "adoption", score: 75 }, { component: "commercial" }] },
    });
  });
});

test("svc journeys inspect shows how long the steps of a complete journey took", async () => {
  expect(await stdoutOf(["journeys", "inspect", "globex", "onboarding"])).toMatchInlineSnapshot(`
    "onboarding of globex in test: complete

    Started    <time> (13 days ago)
    Completed  <time> (7 days ago)
    Lasted     6 days

    Step            Completed                   From start  From previous  Triggered by
    create_project  <time>       1 day          1 day  evt_<id>
    invite_team     <time>      6 days         5 days  evt_<id>
    "
  `);
  const stdout = await stdoutOf(["journeys", "inspect", "globex", "onboarding", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ status: "complete", run: 1, steps: [{}, {}], earlierRuns: [] });
});

describe("svc segments inspect", () => {
  test("a segment filled by rules has no condition; --customer shows whether the customer is a member, and why", async () => {
    const filled = await stdoutOf(["segments", "inspect", "expansion"]);
    expect(filled.split("\n\n")[1]).toBe("It has no condition: rules fill it.");
    expect(await stdoutOf(["segments", "inspect", "expansion", "--customer", "globex"])).toMatchInlineSnapshot(`
      "globex in test
      segment expansion: a member
        It has no condition: rules fill it.
      "
    `);
    const stdout = await stdoutOf(["segments", "inspect", "big_spenders", "--customer", "globex", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ customerId: "globex", configVersion: "v1", segment: "big_spenders", member: true },
      condition: { actual: 1200, met: true },
    });
    expect(Object.keys(JSON.parse(stdout) as object)).not.toContain("lifecycle");
  });

  test("reports a segment or a customer that does not exist", async () => {
    const errorOf = async (...argv: string[]) => (await shop.run(["segments", "inspect", ...argv])).stderr;
    expect(await errorOf("players", "--customer", "globex")).toContain("SEGMENT_NOT_FOUND");
    expect(await errorOf("power_users", "--customer", "nobody")).toContain("CUSTOMER_NOT_FOUND");
  });
});

describe("the recorded operations of a customer", () => {
  test("are listed, latest first, and --superseded shows whether they count", async () => {
    expect(await stdoutOf(["customers", "transitions", "globex"])).toMatchInlineSnapshot(`
      "At                          From   To         Cause                       Model
      <time>  trial  activated  event evt_<id>  v1
      <time>  new    trial      event evt_<id>  v1
      <time>         new        event evt_<id>  v1
      "
    `);
    expect(await stdoutOf(["health", "history", "globex", "--superseded"])).toMatchInlineSnapshot(`
      "At                          Health  Band     Components                   Cause                       Record
      <time>      85  healthy  adoption 75, commercial 100  event evt_<id>  present
      <time>      70  healthy  adoption 50, commercial 100  event evt_<id>  present
      <time>      55  at_risk  adoption 25, commercial 100  event evt_<id>  present
      <time>      40  at_risk  adoption 0, commercial 100   event evt_<id>  present
      "
    `);
    expect(await stdoutOf(["rules", "logs", "--customer", "globex", "--superseded"])).toMatchInlineSnapshot(`
      "At                          Customer  Rule    Result  Triggered by        Model  Record
      <time>  globex    upsell  pass    event:invoice_paid  v1     present
      "
    `);
  });

  test("svc emissions inspect leads from an emission to the rule run that created it", async () => {
    const timeline = (await documentOf(["customers", "timeline", "initech"])).data as {
      id: string;
      eventType: string;
    }[];
    const idOf = (type: string) => timeline.find(({ eventType }) => eventType === type)!.id;
    const inspect = async (type: string) =>
      (await stdoutOf(["emissions", "inspect", idOf(type)])).replace(idOf(type), "emi_<id>");
    expect(await inspect("signal.raised")).toMatchInlineSnapshot(`
      "Emission  emi_<id> signal.raised
      Customer  initech
      At        <time>
      Source    signal {"signal":"escalation","message":"A severe ticket was opened","severity":"critical"}
      Cause     event evt_<id>

      <time>  severe for initech: pass, it acted
        triggered by event:ticket_opened (event evt_<id>), v1
        did: raise signal "escalation"

      Webhook                   URL                       Status     Tries
      whk_<id>  <receiver>  delivered      1
      "
    `);
    expect(await inspect("customer.created")).toMatch(/^Cause +event evt_<id>\n\nWebhook /m);
    const unknown = await shop.run(["emissions", "inspect", "emi_0000000000000001"]);
    expect(unknown.stderr).toContain("EMISSION_NOT_FOUND");
  });
});

describe("across customers", () => {
  test("emissions are listed, latest first", async () => {
    expect(await stdoutOf(["emissions", "list", "--source", "signal", "--since", "1d"])).toMatchInlineSnapshot(`
      "At                          Customer  Type           What                                                                      Cause                       Id
      <time>  initech   signal.raised  signal=escalation, message=A severe ticket was opened, severity=critical  event evt_<id>  emi_<id>
      "
    `);
    expect(await stdoutOf(["emissions", "list", "--type", "customer.lost"])).toBe("There is no such emission.\n");
  });

  test("raised signals are listed", async () => {
    expect(await stdoutOf(["signals", "list"])).toMatchInlineSnapshot(`
      "Raised                      Customer  Signal      Severity  Message
      <time>  initech   escalation  critical  A severe ticket was opened
      "
    `);
    expect((await shop.run(["signals", "list", "--signal", "escalaton"])).stderr).toContain("escalation");
  });

  test("svc overview --at and svc segments inspect --at show past states", async () => {
    const then = await stdoutOf(["overview", "--at", "2020-01-01"]);
    expect(then).toMatch(
      /^At +<time>, according to the present records\nCustomers +0\nHealth +no customer had a score\n/m,
    );
    expect(then).toContain("Lifecycle  Customers  Share\nnew                0\ntrial              0\n");
    expect(await stdoutOf(["segments", "inspect", "expansion", "--at", "2020-01-01"])).toBe(
      "expansion in test, at 2020-01-01\n\nIt had no members.\n",
    );
    expect(JSON.parse(await stdoutOf(["overview", "--at", "1m", "--json"]))).toMatchObject({ environment: "test" });
    expect((await shop.run(["overview", "--at", "2999-01-01"])).stderr).toContain("`at` is in the future");
    const both = ["segments", "inspect", "expansion", "--at", "1m", "--customer", "globex"];
    expect((await shop.run(both)).stderr).toContain("--at lists past members");
  });

  test("svc trends ends with the figures of the overview", async () => {
    await vi.waitFor(
      async () => {
        await shop.db.sql`select graphile_worker.add_job('count_trends', job_key => 'count_trends')`;
        const { stdout } = await shop.run(["trends", "--json"]);
        expect(JSON.parse(stdout)).toMatchObject({ complete: true });
      },
      { timeout: 30_000, interval: 200 },
    );
    const overview = JSON.parse(await stdoutOf(["overview", "--json"])) as {
      lifecycle: { state: string; customers: number }[];
    };
    const { series } = JSON.parse((await shop.run(["trends", "--every", "month", "--json"])).stdout) as {
      series: { state: string; values: number[] }[];
    };
    const now = series
      .map(({ state, values }) => ({ state, customers: values.at(-1) }))
      .filter((one) => one.customers !== 0);
    expect(overview.lifecycle.filter((one) => one.customers !== 0)).toMatchObject(now);
    expect(now).not.toEqual([]);
    expect((await shop.run(["trends", "flows", "--from", "1990-01-01", "--to", "1990-01-02"])).stdout).toBe(
      "Flows in test by day, 1990-01-01 to 1990-01-02 (UTC)\n\nNothing was counted in this time.\n",
    );
    expect((await shop.run(["trends", "--from", "soon"])).stderr).toContain("Write for example 2026-03-01.");
    expect((await shop.run(["trends", "--csv", "--json"])).stdout).toContain("give one of them");
  });

  test("lists and segment members can be printed as CSV", async () => {
    const lines = (await stdoutOf(["customers", "list", "--csv"])).trimEnd().split("\n");
    expect(lines[0]).toMatch(/^customerId,lifecycle,.*,health\.overall,/);
    const { data } = JSON.parse(await stdoutOf(["customers", "list", "--json"])) as { data: { customerId: string }[] };
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(data.map(({ customerId }) => customerId));
    expect(await stdoutOf(["customers", "list", "--csv", "--limit", "1"])).toBe(`${lines.join("\n")}\n`);
    expect(await stdoutOf(["events", "list", "--csv"])).toMatch(/^eventId,.*\n/);
    expect(await stdoutOf(["rules", "logs", "--csv"])).toMatch(/^[a-zA-Z,.]+\n/);
    expect(await stdoutOf(["webhooks", "list", "--csv"])).toMatch(/^id,url,.*,include,format,.*\n/);
    expect(await stdoutOf(["events", "quarantine", "list", "--csv"])).toMatch(/^quarantineId,.*\n/);
    const timeline = ["customers", "timeline", data[0]!.customerId, "--csv"];
    expect(await stdoutOf(timeline)).toMatch(/^id,eventType,.*\n/);
    expect((await shop.run([...timeline, "--at", "1d"])).stderr).toContain("Leave out --csv");
    expect((await shop.run(["customers", "list", "--csv", "--json"])).stdout).toContain("give one of them");
    expect((await shop.run(["segments", "inspect", "nothing", "--csv"])).stderr).toContain("SEGMENT_NOT_FOUND");
  });

  test("svc journeys funnel shows how far customers got, and how long it took", async () => {
    expect(await stdoutOf(["journeys", "funnel", "onboarding"])).toMatchInlineSnapshot(`
      "onboarding in test: 3 runs of 3 customers

      Active           2 (67 %)
      Complete         1 (33 %)
      Expired          0 (0 %)
      Median duration  6 days

      Step            Completed  Now here  Expired here  Median  Middle half
      create_project   2 (67 %)         1             0   1 day  1 day to 1 day
      invite_team      1 (33 %)         1             0  5 days  5 days to 5 days
      "
    `);
    expect(JSON.parse(await stdoutOf(["journeys", "funnel", "onboarding", "--json"]))).toMatchObject({
      runs: expect.any(Number) as number,
    });
    expect((await shop.run(["journeys", "funnel", "onbording"])).stderr).toContain("JOURNEY_NOT_FOUND");
  });
});

describe("svc rules logs", () => {
  const logs = (argv: string[] = [], options: RunOptions = {}) => shop.run(["rules", "logs", ...argv], options);

  test("with --detail each run shows the reason for its result, and the action of the rule; coloured on a terminal", async () => {
    expect((await logs(["--detail", "--result", "fail"], { terminal: true })).stdout).toMatchInlineSnapshot(`
      "<time>  [1mupsell[22m for initech: [33mfail[39m, its condition was unmet
        [2mtriggered by event:invoice_paid (event evt_<id>), v1[22m
        [31m✗[39m in segment "power_users"
        would: add to segment "expansion"
      "
    `);
  });

  test("runs are listed, latest first, by customer, result and time; if there are none it says so", async () => {
    const runs = async (...argv: string[]) =>
      ((await documentOf(["rules", "logs", ...argv])).data as { customerId: string; ruleId: string }[]).map(
        ({ customerId, ruleId }) => `${customerId} ${ruleId}`,
      );
    expect(await runs()).toEqual(["globex upsell", "initech upsell", "initech severe"]);
    expect(await runs("--customer", "initech")).toEqual(["initech upsell", "initech severe"]);
    expect(await runs("--result", "pass")).toEqual(["globex upsell", "initech severe"]);
    expect(await runs("--since", "10d")).toEqual(["globex upsell"]);
    const none = { code: 0, stdout: "There is no such run of a rule.\n", stderr: "" };
    expect(await logs(["--result", "error"])).toEqual(none);
    const { code, stderr } = await logs(["--rule", "upsel", "--detail"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Did you mean "upsell"?')]);
  });
});

describe("svc events list", () => {
  // docs/walk.md shows all columns.
  test("on a terminal of 80 columns leaves out columns that do not fit, and says how to continue", async () => {
    const { code, stdout, stderr } = await shop.run(["events", "list", "--limit", "2", "--no-color"], {
      terminal: true,
    });
    expect({ code, stdout, stderr: stderr.replace(/--cursor \S+/, "--cursor <cursor>") }).toMatchInlineSnapshot(`
      ! There are more: add --cursor <cursor>
      Occurred                    Customer  Event      Status     Properties
      <time>  globex    login      processed  {"method": "sso"}
      <time>  hooli     signed_up  processed  {"source": "self_se…
      The terminal is too narrow for: Id.
    `);
  });

  test("filters by name, status and time", async () => {
    const counted = async (...argv: string[]) => (await documentOf(["events", "list", ...argv])).data.length;
    expect(await counted("--type", "project_created")).toBe(4);
    expect(await counted("--since", "5d")).toBe(2);
    expect(await counted("--status", "processed", "--customer", "initech")).toBe(4);
    expect(await stdoutOf(["events", "list", "--status", "pending"])).toBe("There is no such event.\n");
  });
});

test("svc keys lists, creates, rotates and revokes keys; keys are found by name or hint, and printed once", async () => {
  /** The id of the newest key of that name in test. */
  const idOf = async (name: string): Promise<string> => {
    const [row] = await shop.db.sql<[{ id: string }]>`
      select k.api_key_id as id from svc.api_keys as k join svc.environments as e on e.environment_id = k.environment_id
      where e.name = 'test' and k.name = ${name} order by k.created_at desc limit 1`;
    return row.id;
  };
  const keys = (...argv: string[]) => shop.run(["keys", ...argv, "--yes"]);
  expect(await shop.run(["keys", "list"])).toMatchInlineSnapshot(`
    Id                        Name     Key             Status  Last used     Created                     By
    key_<id>  default  svc_test_<secret>…  active  12 hours ago  <time>  owner@acme.example
  `);
  expect(await keys("create", "--name", "backend")).toMatchInlineSnapshot(`
    Created the key backend in test. Keep it in a safe place: it is not shown again.

    Key  svc_test_<secret>
    Id   key_<id>
  `);
  const { stdout } = await keys("create", "--name", "ci", "--env", "live", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ key: { id: "key_<id>", name: "ci" }, secret: "svc_live_<secret>" });
  expect(await shop.run(["keys", "rotate", await idOf("default")], { ...plain, input: "y\n" })).toMatchInlineSnapshot(`
    ! Replace the key default (svc_test_<secret>…, last used 12 hours ago) in test of project shop at <service>? The old one works for another 24h. (y/N) y
    Replaced the key default in test. Keep the new one in a safe place: it is not shown again.

    New key  svc_test_<secret>
    Id       key_<id>
    Old key  key_<id>, ends <time> (in 11 hours)
  `);
  expect(await keys("rotate", await idOf("default"), "--grace", "31d")).toMatchInlineSnapshot(`
    exit 1
    ! error [VALIDATION_ERROR]: \`grace\` is too long. Write 30d or less; 0m ends the old key at once. Field: grace.
  `);
  const rotated = await keys("rotate", await idOf("default"), "--grace", "0m", "--json");
  expect(JSON.parse(rotated.stdout)).toMatchObject({ secret: "svc_test_<secret>", replaced: {} });
  const id = await idOf("backend");
  expect(await keys("revoke", id)).toMatchInlineSnapshot(`
    Revoked the key backend (svc_test_<secret>…) in test.
  `);
  expect((await keys("revoke", id, "--json")).stdout).toContain('"status":"revoked"');
  expect((await keys("rotate", id)).stderr).toContain("error [KEY_REVOKED]");
});

test("lists fit eighty columns with whole ids, and drop other columns for them", async () => {
  await shop.run(["recompute", "--all", "--dry-run"]);
  for (const argv of [
    ["keys", "list"],
    ["journeys", "inspect", "initech", "onboarding"],
    ["recompute", "list"],
    ["webhooks", "deliveries", shop.webhookId],
    ["customers", "list"],
  ]) {
    const { code, stdout } = await shop.raw(argv, { terminal: true, columns: 80 });
    expect(code).toBe(0);
    const shown = stripVTControlCharacters(stdout);
    expect(shown.split("\n").filter((line) => line.length > 80 || /^\w+…/.test(line))).toEqual([]);
    if (argv[0] !== "customers") expect(shown).toContain("\nThe terminal is too narrow for: ");
  }
});

test("a recompute of a customer that does not exist says so", async () => {
  const { code, stdout } = await shop.run(["recompute", "--customer", "nobody", "--yes"]);
  expect(code).toBe(0);
  expect(stdout).toContain("Done       nothing: there was no such customer when it was queued\n");
});

test("svc customers inspect shows all digits of a trait", async () => {
  const response = await fetch(`${shop.url}/v1/events/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.keys.live}`, "content-type": "application/json" },
    body: '{"events":[{"type":"identify","customerId":"large","traits":{"contract":12345678901234567891}}]}',
  });
  expect(response.status).toBe(202);
  await untilQuiet(shop.db);
  const { stdout } = await shop.run(["customers", "inspect", "large", "--env", "live"]);
  expect(stdout).toContain("  contract  12345678901234567891\n");
});

/** Exports globex to a file or to standard output; replaces the folder and the address of another service in the result. */
async function exported(file?: string, { cwd, url, json }: { cwd?: string; url?: string; json?: true } = {}) {
  const output = file === undefined ? [] : ["--output", file];
  const argv = ["customers", "export", "globex", "--project", "shop", ...output, ...(json ? ["--json"] : [])];
  const options = { ...(cwd && { cwd }), ...(url && { env: { SVC_API_URL: url } }) };
  return steady(await shop.run(argv, options), [
    [url ?? "<none>", "<other>"],
    [cwd ?? "<none>", "<directory>"],
  ]);
}
/** The beginning of an export. */
const BEGUN = '{"customerId" : "globex", "events":[';

describe("svc customers export", () => {
  test("writes everything to a file that only its owner can read, or to standard output, with --json and without", async () => {
    const cwd = await project({ "README.md": "" });
    const wrote = await exported("globex.json", { cwd });
    expect({ ...wrote, stdout: wrote.stdout.replace(/\d+ kB/, "<n> kB") }).toMatchInlineSnapshot(`
      Wrote what is stored about globex in test to globex.json (<n> kB).
    `);
    const file = path.join(cwd, "globex.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const document = JSON.parse(await readFile(file, "utf8")) as { customerId: string; events: unknown[] };
    expect([document.customerId, document.events.length]).toEqual(["globex", 8]);
    expect(await readdir(cwd)).toEqual(["README.md", "globex.json"]);
    const printed = await stdoutOf(["customers", "export", "globex"]);
    expect(JSON.parse(printed)).toMatchObject({ customerId: "globex", customer: { lifecycle: "activated" } });
    expect(await stdoutOf(["customers", "export", "globex", "--json"])).toBe(printed);
  });

  test("does not overwrite a file, and sends no request then", async () => {
    const cwd = await project({ "globex.json": "mine" });
    expect(await exported("globex.json", { cwd, url: "http://127.0.0.1:1" })).toMatchInlineSnapshot(`
      exit 1
      ! error [FILE_EXISTS]: <directory>/globex.json already exists. Name another file, or remove it.
    `);
    expect(await readFile(path.join(cwd, "globex.json"), "utf8")).toBe("mine");
  });

  test("leaves no file if the export breaks off, and says so if half a document was printed", async () => {
    const cwd = await project({ "README.md": "" });
    const { url } = await brokenServer({ read: () => ({ status: 200, body: BEGUN, cut: true }) });
    const toFile = await exported("globex.json", { cwd, url });
    expect(await readdir(cwd)).toEqual(["README.md"]);
    const toOutput = await exported(undefined, { url });
    expect(toOutput.stderr).toBe(toFile.stderr);
    expect(toOutput).toMatchInlineSnapshot(`
      exit 1
      ! error [SERVICE_UNREACHABLE]: The export from <other> broke off before its end. Try again.
      {"customerId" : "globex", "events":[ (no line end)
    `);
  });

  test.each(['{"customerId":"initech"}', "[]"])("does not keep an invalid export: %s", async (body) => {
    const cwd = await project({ "README.md": "" });
    const { url } = await brokenServer({ read: () => ({ status: 200, body }) });
    const { stderr, ...rest } = await exported("globex.json", { cwd, url });
    expect(rest).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^error \[UNEXPECTED_ANSWER\]: <other> answered 200 with something other than an export of that customer/,
    );
    expect(await readdir(cwd)).toEqual(["README.md"]);
    expect(await exported(undefined, { url })).toEqual({ stderr, ...rest });
    // Nothing was printed yet, so the error can be.
    const failed = await exported(undefined, { url, json: true });
    expect(failed).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: "UNEXPECTED_ANSWER" } });
  });

  test("Ctrl+C leaves no file", async () => {
    const cwd = await project({ "README.md": "" });
    const { url } = await brokenServer({
      read: () => ({ status: 200, body: BEGUN, held: () => process.kill(process.pid, "SIGINT") }),
    });
    expect(await exported("globex.json", { cwd, url })).toMatchInlineSnapshot(`
      exit 1
      ! error [CANCELLED]: Cancelled, nothing was changed.
    `);
    expect(await readdir(cwd)).toEqual(["README.md"]);
  });

  test("reports a path that cannot be written to, and a customer that does not exist", async () => {
    const cwd = await project({ "README.md": "" });
    expect(await exported("README.md/globex.json", { cwd })).toMatchInlineSnapshot(`
      exit 1
      ! error [FILE_NOT_WRITTEN]: <directory>/README.md/globex.json could not be written (ENOTDIR); nothing was left there. Make room, or name a place that you may write to.
    `);
    await mkdir(path.join(cwd, "out"));
    const nobody = ["customers", "export", "nobody", "--project", "shop", "--output", "out/nobody.json"];
    expect((await shop.run(nobody, { cwd })).stderr).toContain("error [CUSTOMER_NOT_FOUND]");
    expect(await readdir(path.join(cwd, "out"))).toEqual([]);
  });
});

describe("svc customers erase", () => {
  test("erases the customer after its id was typed, and counts what was removed", async () => {
    const { code, stdout } = await shop.run(["customers", "erase", "initech"], { ...plain, input: "initech\n" });
    expect({ code, stdout }).toMatchInlineSnapshot(`
      Erased the customer initech in test. Later events with this id begin a new customer.

      Events             4
      Identifies         1
      Idempotency keys   4
      Transitions        2
      Journey runs       1
      Health scores      2
      Rule executions    2
      Signals            1
      Emissions          6
      Deliveries         6
      Delivery attempts  6
    `);
    expect((await shop.run(["customers", "inspect", "initech"])).stderr).toContain("[CUSTOMER_NOT_FOUND]");
  });

  test("takes the id from a pipe or --yes, with JSON output", async () => {
    expect((await shop.run(["customers", "erase", "globex"], { input: "globex\n" })).code).toBe(0);
    const { stdout } = await shop.run(["customers", "erase", "hooli", "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ erased: { events: 1, identifies: 0, transitions: 2, deliveries: 4 } });
  });

  test.each([".", ".."])("erases a customer whose id is like a directory: %s", async (id) => {
    await shop.run(["events", "send", "login", "--customer", id], { env: { SVC_API_KEY_TEST: shop.keys.test } });
    expect((await shop.run(["customers", "export", id])).stdout).toContain('"event" : "login"');
    expect(await shop.run(["customers", "erase", id, "--yes"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("quotes an id of two words in the commands that it suggests", async () => {
    expect((await shop.run(["customers", "erase", "new customer"], { input: "new\n" })).stderr).toContain(
      "Pipe it: echo 'new customer' | svc …, or add --yes.",
    );
    const { url } = await brokenServer({ interrupted: () => process.kill(process.pid, "SIGINT") });
    const argv = ["customers", "erase", "new customer", "--yes"];
    expect((await shop.run(argv, { env: { SVC_API_URL: url } })).stderr).toBe(
      "error [OUTCOME_UNKNOWN]: Stopped before the service answered; it is not known whether this was carried out. " +
        "See for yourself: `svc customers inspect 'new customer' --env test`.\n",
    );
  });
});

test("svc events tail shows events as they are accepted, until Ctrl+C", async () => {
  const tail = running((options) => shop.run(["events", "tail", "--type", "login"], options));
  await tail.says("Waiting for events in test of shop. Ctrl+C stops.");
  const send = (...argv: string[]) =>
    shop.run(["events", "send", ...argv], { env: { SVC_API_KEY_TEST: shop.keys.test } });
  await send("member_invited", "--customer", "tailed");
  await send("login", "--customer", "tailed", "--props", '{"method":"sso"}');
  await tail.prints("login");
  await send("member_invited", "--customer", "tailed", "--timestamp", "2026-01-02T03:04:05Z");
  const { data } = await documentOf(["events", "list", "--customer", "tailed"]);
  expect(data.at(-1)).toMatchObject({ event: "member_invited", occurredAt: "2026-01-02T03:04:05.000Z" });
  tail.interrupt();
  const { code, stdout, stderr } = await tail.result;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Waiting for events in test of shop. Ctrl+C stops.\n" });
  expect(stdout).toMatch(/^<time> {2}tailed {2}login {2}\{"method": "sso"\}\n$/);
});

test("a project without customers has empty lists, and repeated deploys and events are reported as such", async () => {
  const create = ["projects", "create", "--name", "Bare", "--slug", "bare", "--yes"];
  const { keys } = await shop.make<{ keys: { test: string } }>(...create);
  const bare = (...argv: string[]) => shop.run([...argv, "--project", "bare"]);
  expect((await bare("deploy", "--yes")).code).toBe(0);
  expect(await bare("deploy", "--yes")).toMatchInlineSnapshot(
    `v1, which is already active in test of bare, is the same model; nothing was deployed.`,
  );
  const { stdout } = await bare("overview");
  expect(stdout).toContain("\nLifecycle  Now  Share  Ever\nnew          0            0\n");
  expect(stdout).toContain("\nSegment       Members  Share\npower_users         0\n");
  expect(await bare("customers", "list", "--inactive", "7d")).toMatchInlineSnapshot(`There is no such customer.`);
  expect((await bare("segments", "inspect", "big_spenders")).stdout).toMatch(/\n\nIt has no members\.\n$/);
  expect((await bare("webhooks", "create", "--url", "https://hooks.example.com/a", "--yes")).code).toBe(0);
  const [webhook] = await shop.db.sql<[{ id: string }]>`
    update svc.webhooks set failing_since = '2026-03-02T10:00:00Z' where url like '%hooks.example.com/a' returning webhook_id as id`;
  expect((await bare("webhooks", "list")).stdout).toMatch(/hooks\.example\.com\/a.* failing since/);
  expect(await bare("webhooks", "deliveries", webhook.id)).toMatchInlineSnapshot(
    `Nothing was delivered to this webhook yet.`,
  );
  const argv = ["events", "send", "login", "--customer", "cus_1", "--idempotency-key", "k"];
  const send = () => stdoutOf(argv, { env: { SVC_API_KEY_TEST: keys.test } });
  expect(await send()).toBe("Accepted as evt_<id> in test.\n");
  expect(await send()).toBe("The idempotency key was used for the same event before: evt_<id> in test.\n");
});
