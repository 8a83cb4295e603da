import { readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { parseCommandLine } from "../../src/cli/core/adapter.js";
import type { BacktestReport } from "../../src/backtest/report-types.js";
import { useDirectory } from "../support/directory.js";
import { docBlocks } from "../support/doc-blocks.js";
import { ingest, startAcme, untilQuiet } from "./support/shop.js";
import { steady, svc } from "./support/run-svc.js";

const model = (logins: number) => `
  import { daysSince, defineModel, event, health, inactiveFor, lifecycle, scale, segment, signal, steps } from "svc-success";
  const login = event("login");
  const cancelled = event("cancelled");
  const stages = lifecycle({ initial: "here", states: { here: { to: { gone: cancelled.happened() } }, gone: { terminal: true } } });
  const score = health({
    components: {
      recency: { weight: 0.5, score: steps(daysSince(login), [[3, 100], [10, 50]], 0) },
      usage: { weight: 0.5, score: scale(login.count().within("14d"), { from: 0, to: ${logins} }) },
    },
    bands: { healthy: 60, critical: 0 },
  });
  const busy = segment("busy", { when: login.count().within("14d").atLeast(5) });
  const silent = signal("silent", { severity: "warning", when: inactiveFor("7d") });
  export default defineModel({
    strictSchema: true, events: { login, cancelled }, lifecycle: stages, health: score, segments: [busy], signals: [silent],
  });`;

const START = Date.parse("2026-01-01T12:00:00Z");
const DAY = 86_400_000;
const at = (day: number) => new Date(START + day * DAY).toISOString();

/** Forty customers log in every other day for ninety days. Every third one stops on some day, and cancels twelve days later. */
const EVENTS = Array.from({ length: 40 }, (_, customer) => {
  const customerId = `c${String(customer).padStart(2, "0")}`;
  const ends = customer % 3 === 0 ? 30 + customer : 90;
  const days = Array.from({ length: 46 }, (_, index) => index * 2).filter((day) => day <= ends);
  const logins = days.map((day) => ({ customerId, event: "login", timestamp: at(day) }));
  return ends === 90 ? logins : [...logins, { customerId, event: "cancelled", timestamp: at(ends + 12) }];
}).flat();

const cwd = await useDirectory();
beforeAll(async () => {
  await mkdir(path.join(cwd, "before"));
  await writeFile(path.join(cwd, "svc.config.ts"), model(7));
  await writeFile(path.join(cwd, "before", "svc.config.ts"), model(2));
  await writeFile(path.join(cwd, "events.jsonl"), EVENTS.map((event) => JSON.stringify(event)).join("\n"));
  await writeFile(path.join(cwd, "bad.jsonl"), '{"customerId":"a","event":"login"}\n5\n');
});

const ASKED = ["--outcome", "event:cancelled", "--within", "14d", "--from", "2026-01-05"];

/** Runs `svc backtest` on the file. */
async function backtest(...argv: string[]) {
  const result = await svc(
    ["backtest", ...ASKED, ...(argv.includes("--events") ? [] : ["--events", "events.jsonl"]), ...argv],
    { cwd },
  );
  return steady(result, [[/\b[0-9a-f]{12}\b/g, "<hash>"]]);
}

describe("on a file", () => {
  test("shows people what the model said before the outcome, and how useful that is", async () => {
    const { code, stdout, stderr } = await backtest();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("\nBase rate    6.1 % (3.8 to 9.8)\n");
    // docs/backtest.md shows the rest, and the comment below has the same tables.
    expect(stdout.slice(stdout.indexOf("Signal"), stdout.indexOf("Before you"))).toMatchInlineSnapshot(`
      "Signal  Flagged  Customers  Precision  Recall  Caught  Lift  Lead days  False alarms/week
      silent       31         12     32.3 %  37.0 %      10  5.26          3                0.8

      Component  Weight            AUC alone       AUC without it                    It adds   Effect
      recency       0.5  0.72 (0.65 to 0.78)  0.69 (0.59 to 0.77)  +0.048 (+0.040 to +0.056)     adds
      usage         0.5  0.69 (0.59 to 0.77)  0.72 (0.65 to 0.78)  +0.017 (-0.040 to +0.073)  unclear

      Score           Samples       With the outcome
      0 to 53.57           43  25.6 % (18.0 to 35.0)  ████████
      60.71 to 64.29       44                  9.1 %  ███
      92.86                44                  9.1 %  ███
      100                 309                  2.6 %  █

      At most  Flagged  Precision   Recall  False alarms/week
      0          6.4 %      0.0 %    0.0 %                0.9
      10         7.3 %      0.0 %    0.0 %                1.0
      15         7.5 %      3.0 %    3.7 %                1.0  █
      40         8.0 %      8.6 %   11.1 %                0.8  ███
      50         8.9 %     17.9 %   25.9 %                0.5  █████
      55         9.8 %     25.6 %   40.7 %                0.2  ████████
      65        19.8 %     17.2 %   55.6 %                3.6  █████
      95        29.8 %     14.5 %   70.4 %                3.6  ████
      100      100.0 %      6.1 %  100.0 %                3.6  ██

      "
    `);
  });

  test("of two models makes a comment for a pull request, with the tables that the terminal shows", async () => {
    const { stdout } = await backtest("--against", "before", "--markdown");
    expect(stdout.replaceAll(/(\n\|.*)+/g, "(table)").replaceAll(/\n+/g, "\n")).toMatchInlineSnapshot(`
      "### Do \`local\` and \`before\` predict \`event:cancelled\`?
      After 6.1 % of the samples the outcome came within 14d. In 74 of 100 pairs of a sample with the outcome and one without, the one with it had the lower score of \`local\` (95 %: 64 to 81); by chance it would be 50. In 72 of 100 pairs of a sample with the outcome and one without, the one with it had the lower score of \`before\` (95 %: 65 to 78); by chance it would be 50. The AUC of \`local\` less that of \`before\`, on the same samples: +0.018 (-0.038 to +0.074).
      (table)
      ### The model \`local\`
      #### State
      (table)
      #### Band
      (table)
      #### Segment
      (table)
      #### Signal
      (table)
      #### Component
      (table)
      #### Scores, the lowest first
      (table)
      #### Flagged at a score of at most
      (table)
      ### The model \`before\`
      #### State
      (table)
      #### Band
      (table)
      #### Segment
      (table)
      #### Signal
      (table)
      #### Component
      (table)
      #### Scores, the lowest first
      (table)
      #### Flagged at a score of at most
      (table)
      - The 27 samples with the outcome are of 14 customers. Samples of one customer are alike, so they say less than as many customers would; the intervals allow for it.
      - Of 13 instants, the last 2 are left out, with 80 samples: less than 14d after them is known, so it is unknown whether the outcome came in time.
      - 32 samples are of customers in the terminal state gone, who may have left for good: they count as samples without the outcome. The outcome state:gone leaves them out.
      - It is not known which of the two health scores predicts the outcome better: the interval of the difference (-0.04 to 0.07) contains 0.
      - This is association in one history, not cause: it does not say what would have happened if somebody had acted.
      <sub>svc backtest: \`events.jsonl\`, model <hash></sub>
      "
    `);
    expect(stdout).toContain(`
#### Signal

| Signal | Flagged | Customers | Precision | Recall | Caught | Lift | Lead days | False alarms/week |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| \`silent\` | 31 | 12 | 32.3 % | 37.0 % | 10 | 5.26 | 3 | 0.8 |

`);
    const shown = (await backtest("--against", "before")).stdout.replaceAll(/ +█+$/gm, "");
    const cells = (lines: string, between: RegExp) =>
      lines.split("\n").flatMap((line) => {
        const row = line.split(between).filter((cell) => cell !== "");
        return row.length > 1 ? [row] : [];
      });
    const rows = cells(stdout.replaceAll("`", "").replaceAll(/^(?!\| [^-]).*|^\| | \|$/gm, ""), / \| /);
    expect(rows).toHaveLength(55);
    expect(rows).toEqual(cells(shown.replace(/^Outcome .*/m, ""), / {2,}/));
  });

  test("names of files and folders are not taken as Markdown, and cannot rewrite a terminal", async () => {
    const [file, folder] = ["a`b\u001b[2J|*.jsonl", "@b\u001b[2J*"];
    await cp(path.join(cwd, "events.jsonl"), path.join(cwd, file));
    await cp(path.join(cwd, "before"), path.join(cwd, folder), { recursive: true });
    const result = await backtest("--events", file, "--against", folder);
    expect(result.stdout.split("\n", 1)).toEqual([
      "A backtest over a`b\\u001b[2J|*.jsonl: local and @b\\u001b[2J*; nothing was changed.",
    ]);
    expect(result.stdout).not.toContain("\u001b");
    const { stdout } = await backtest("--events", file, "--against", folder, "--markdown");
    expect(stdout).toContain("<sub>svc backtest: `` a`b\\u001b[2J\\|*.jsonl ``, model <hash></sub>");
    expect(stdout).toContain("the lower score of `@b\\u001b[2J*` (95 %");
  });

  test("warns what identifies among unordered lines mean", async () => {
    const identify = { type: "identify", customerId: "c00", traits: {} };
    const lines = [...EVENTS, identify].map((line) => JSON.stringify(line));
    await writeFile(path.join(cwd, "unordered.jsonl"), lines.join("\n"));
    expect((await backtest("--events", "unordered.jsonl")).stderr).toMatch(
      /^The lines of the file are not in order of time\. An identify takes effect at the latest event/,
    );
    expect(await backtest("--events", "unordered.jsonl", "--present-traits")).toMatchObject({ code: 0, stderr: "" });
  });

  test("with --json is one document with all figures", async () => {
    const { code, stdout } = await backtest("--json", "--present-traits", "--sample", "20");
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as { report: BacktestReport };
    expect(document).toMatchObject({ customers: 20, traits: "now", model: { configVersion: null }, against: null });
    expect(document.report).toMatchObject({ outcome: "event:cancelled", within: "14d", end: at(90) });
    expect(document.report.customers.looked).toBe(20);
  });

  test("as CSV has a line for each sample, from which all figures can be computed", async () => {
    const { stdout } = await backtest("--against", "before", "--csv");
    const [heads, ...lines] = stdout.trimEnd().split("\n");
    expect(heads).toMatchInlineSnapshot(
      `"customer,at,status,outcome,outcome_at,local.state,local.band,local.overall,local.components.recency,local.components.usage,local.segments,local.signals,before.state,before.band,before.overall,before.components.recency,before.components.usage,before.segments,before.signals"`,
    );
    const rows = lines.map((line): Record<string, string> => {
      const cells = line.split(",");
      return Object.fromEntries(heads!.split(",").map((head, index) => [head, cells[index]!]));
    });
    const { report } = JSON.parse((await backtest("--json")).stdout) as { report: BacktestReport };
    const counted = (column: string, value: string) => rows.filter((row) => row[column] === value).length;
    expect({
      used: counted("status", "used"),
      withOutcome: counted("outcome", "true"),
      alreadyThere: counted("status", "there"),
      censored: counted("status", "censored"),
    }).toEqual(report.samples);
    const { precision, flagged } = report.models[0]!.signals[0]!;
    const silent = rows.filter((row) => row["status"] === "used" && row["local.signals"] === "silent");
    expect(silent).toHaveLength(flagged);
    expect(silent.filter(({ outcome }) => outcome === "true").length / flagged).toBeCloseTo(precision!.value);
  });
});

describe("on a service", () => {
  let acme: Awaited<ReturnType<typeof startAcme>>;
  const onService = (...argv: string[]) => svc(argv, { cwd, env: acme.env });
  beforeAll(async () => {
    acme = await startAcme("owner@acme.example");
    const created = await onService("projects", "create", "--name", "Shop", "--slug", "shop", "--yes", "--json");
    const { keys } = JSON.parse(created.stdout) as { keys: { test: string } };
    await onService("deploy", "--project", "shop", "--yes");
    for (let from = 0; from < EVENTS.length; from += 1_000) {
      await ingest(acme.url, keys.test, EVENTS.slice(from, from + 1_000));
    }
    await untilQuiet(acme.db);
  }, 120_000);
  afterAll(() => acme.stop());

  // Up to this date the file has all outcomes, so the service, which knows later events too, gets the same result.
  const SAME = ["--to", "2026-03-16"];
  const askService = (...argv: string[]) => onService("backtest", "--project", "shop", ...ASKED, ...SAME, ...argv);

  test("a job results in the same figures as a file of the same events", async () => {
    const { code, stdout, stderr } = await askService("--json");
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^Queued bkt_[0-9a-f]+\. Ctrl\+C stops waiting for it; it changes nothing\.\n$/,
      ) as string,
    });
    const document = JSON.parse(stdout) as { report: BacktestReport };
    expect(document).toMatchObject({ status: "completed", customers: null, traits: "then", against: null });
    const { report } = JSON.parse((await backtest("--json", ...SAME)).stdout) as { report: BacktestReport };
    expect({ ...document.report, end: report.end, models: [{ ...document.report.models[0], name: "local" }] }).toEqual(
      report,
    );
  });

  test("the model of a folder is compared with a version, with a line for each sample", async () => {
    const service = await askService("--model", "before", "--against", "v1", "--csv");
    const ofFile = await backtest("--model", "before", "--against", ".", "--csv", ...SAME);
    expect(service.stdout.replaceAll("v1.", "..")).toBe(ofFile.stdout);
  });

  test("a person is told which job and models these are of; an earlier backtest can be read again in every format", async () => {
    const document = await askService("--json");
    const { id } = JSON.parse(document.stdout) as { id: string };
    const readAgain = (...argv: string[]) => onService("backtest", "--project", "shop", "--job", id, ...argv);
    expect(await readAgain("--json")).toEqual({ code: 0, stdout: document.stdout, stderr: "" });
    expect((await readAgain()).stdout).toContain(`Backtest ${id} in test of shop: v1; nothing was changed.`);
    const two = await askService("--against", "v1", "--present-traits", "--sample", "1000");
    expect(two.stdout).toMatch(/^Backtest bkt_[0-9a-f]+ in test of shop: v1 and v1; nothing was changed\.\n/);
    expect(two.stdout).toContain("- The present traits are used at every instant");
    expect((await readAgain("--markdown")).stdout).toContain(`svc backtest: ${id}, v1`);
    expect((await readAgain("--csv")).stdout).toBe((await askService("--csv")).stdout);
  });

  test("without a model, such a version or such an outcome, it says so", async () => {
    expect((await askService("--env", "live")).stderr).toBe(
      "error [NOTHING_DEPLOYED]: Nothing was deployed to live of project shop yet, so there is no model to judge. Give one with --model or --version, or deploy it first: `svc deploy --env live --project shop`.\n",
    );
    expect((await askService("--against", "v9")).stderr).toContain("error [VERSION_NOT_FOUND]");
    const mistaken = ["backtest", "--project", "shop", "--outcome", "event:canceled", "--within", "14d"];
    expect((await onService(...mistaken)).stderr).toContain("did you mean event:cancelled?");
  });
});

const ROOT = path.resolve(import.meta.dirname, "../..");
const GUIDE = readFileSync(path.join(ROOT, "docs/backtest.md"), "utf8");
const guide = docBlocks(GUIDE);
const lines = guide.flatMap(({ language, code }, index) =>
  language === "sh"
    ? code
        .trimEnd()
        .split("\n")
        .map((line) => ({ line, answer: guide[index + 1] }))
    : [],
);

test.each(lines)("docs/backtest.md: $line", async ({ line, answer }) => {
  const argv = line.replace(/ +#.*/, "").split(" ").slice(1);
  if (!argv.includes("--events")) {
    expect(await parseCommandLine(argv, { width: 100, version: "0" })).toMatchObject({ kind: "run" });
    return;
  }
  const { code, stdout } = await svc(argv, { cwd: ROOT });
  expect(code).toBe(0);
  if (answer?.language !== "text") return;
  let from = 0;
  for (const part of answer.code.split("…\n")) {
    expect(stdout.slice(from)).toContain(part);
    from = stdout.indexOf(part, from) + part.length;
  }
});

test("docs/backtest.md has the columns of --csv", async () => {
  const { stdout } = await backtest("--csv");
  const heads = stdout.split("\n", 1)[0]!.replaceAll(/components\.\w+/g, "components.<id>");
  const table = GUIDE.slice(GUIDE.indexOf("| column ")).split("\n\n", 1)[0]!;
  expect([...table.matchAll(/^\| `(\S+)`/gm)].map(([, head]) => head)).toEqual([...new Set(heads.split(","))]);
});

describe("mistakes", () => {
  test("wrong lines of the file are reported with their numbers", async () => {
    const { code, stderr, stdout } = await svc(["backtest", ...ASKED, "--events", "bad.jsonl"], { cwd });
    expect({ code, stderr, stdout }).toMatchInlineSnapshot(`
      exit 1
      ! error VALIDATION_ERROR \`timestamp\` is required in a file.
      !   bad.jsonl:1
      !   fix: Say when it happened, in ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z.
      ! error VALIDATION_ERROR The line must be a JSON object.
      !   bad.jsonl:2
      !   fix: Send an object.
      ! error [EVENTS_FILE_INVALID]: 2 lines of the file cannot be accepted. Correct the file; nothing of it was used.
    `);
  });

  test.each([
    [["--events", "none.jsonl"], /cannot be read \(ENOENT\)/],
    [["--events", "events.jsonl", "--every", "x"], /--every: "x" is not a valid duration/],
    [["--events", "events.jsonl", "--to", "2026-09-01"], /--to: It is after 2026-04-01/],
    [["--events", "events.jsonl", "--from", "soon"], /--from is "soon"/],
    [["--events", "events.jsonl", "--version", "v3"], /--version is for a service/],
    [["--events", "events.jsonl", "--project", "p", "--env", "live"], /--project and --env are for a service/],
    [["--events", "events.jsonl", "--against", "v1"], /--against is "v1": versions are on a service/],
    [["--project", "p", "--against", "../other"], /--against is "\.\.\/other".*use --model to judge a directory/],
    [["--events", "events.jsonl", "--job", "bkt_1"], /--outcome and --within and --events are for a new backtest/],
    [["--job", "bkt_1", "--present-traits"], /--outcome and --within and --present-traits are for a new backtest/],
    [["--version", "v3", "--model", "."], /--version and --model exclude each other/],
    [["--csv", "--json"], /--json and --csv exclude each other/],
  ])("%j is refused with an explanation", async (argv, message) => {
    const asked = ["backtest", "--outcome", "event:cancelled", "--within", "14d", ...argv];
    const { code, stdout, stderr } = await svc(asked, { cwd });
    expect(code).toBe(2);
    expect(stdout + stderr).toMatch(message);
  });

  test("a missing outcome or period is reported", async () => {
    expect(await svc(["backtest"], { cwd })).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: Missing --outcome, --within. See \`svc backtest --help\`.
    `);
    expect((await svc(["backtest", "--outcome", "event:cancelled"], { cwd })).stderr).toContain("Missing --within");
  });

  test("an outcome that the model does not have is reported with a suggestion", async () => {
    const argv = ["backtest", "--outcome", "event:canceled", "--within", "14d", "--events", "events.jsonl"];
    expect((await svc(argv, { cwd })).stderr).toContain("did you mean event:cancelled?");
  });
});
