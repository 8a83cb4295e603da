import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { useDirectory } from "../support/directory.js";
import { listen } from "../support/listen.js";
import type { ChildProcess } from "node:child_process";
import { openGate, type Answer } from "./support/gate.js";
import { backfill, beside, type Outcome } from "./support/program.js";
import { openShop, ordersCsv } from "./support/shop.js";

const directory = await useDirectory();
const shop = await openShop();
afterAll(() => shop.stop());

/** A directory for one test, with these files. */
async function folder(name: string, files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const cwd = path.join(directory, name);
  await mkdir(cwd);
  for (const [file, content] of Object.entries(files)) await writeFile(path.join(cwd, file), content);
  return cwd;
}

/** The outcome of a run that failed with this on standard error. */
const failed = (stderr: string) => ({ stdout: "", stderr: `backfill: ${stderr}\n`, code: 1 });
const stopped = (row: number, of?: number | string) =>
  `Stopped after row ${row}${of === undefined ? "" : ` of ${of}`}; start it again with the same arguments to go on`;

const CORRECT = "Correct them, or send the others with --skip-rejected <file>";
const ACCEPTED: Answer = { status: 202, body: '{"accepted":5,"rejected":0,"eventIds":[]}' };

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const rowsOf = async (cwd: string) =>
  (JSON.parse(await readFile(path.join(cwd, "orders.csv.checkpoint.json"), "utf8")) as { rows: number }).rows;

/** All stored events of a project, and the state and history of its customers. */
async function everything(project: string) {
  const { sql } = shop.db;
  return {
    events: await sql`
      select customer_id, event, properties, occurred_at, idempotency_key from svc_inspect.events
      where project = ${project} order by idempotency_key`,
    sum: await sql`select sum((properties ->> 'amount')::numeric) from svc_inspect.events where project = ${project}`,
    customers: await sql`
      select customer_id, lifecycle, lifecycle_entered_at, last_event_at, traits, health, health_band
      from svc_inspect.customers where project = ${project} order by customer_id`,
    transitions: await sql`
      select customer_id, from_state, to_state, transitioned_at from svc_inspect.lifecycle_transitions
      where project = ${project} order by customer_id, transitioned_at, to_state`,
    segments: await sql`
      select customer_id, segment, entered_at from svc_inspect.segment_members
      where project = ${project} order by customer_id, segment`,
    journeys: await sql`
      select customer_id, journey, run, status, started_at, completed_at, expired_at from svc_inspect.journey_runs
      where project = ${project} order by customer_id, run`,
    rules: await sql`
      select customer_id, rule, result, triggered_by, executed_at from svc_inspect.rule_executions
      where project = ${project} order by customer_id, executed_at, rule`,
  };
}

/** The variables of runs that end before anything is sent: nothing listens at the address. */
const NOWHERE = { SVC_API_URL: "http://127.0.0.1:2", SVC_API_KEY: "svc_test_x" };
const GOOD = ordersCsv(3, 1).replaceAll("\r\n", "\n");
const [HEADER, ROW] = GOOD.split("\n") as [string, string];
const TIME = "is not a time with a time zone such as 2025-01-08T09:12:00Z";

const ROWS = 2_000;
const FIGURES = `  events          2,000
  customers       50
  from            2011-01-01T00:00:00.000Z
  to              2012-07-17T21:33:19.000Z
  sum of amount   731575.66
`;

/** Three runs into the same project; the first two are killed at a batch, before and right after the sender gets its answer. */
async function killedTwice(cwd: string, args: string[], env: Record<string, string>, at: [number, number]) {
  let child: ChildProcess | undefined;
  const gate = await openGate(shop.url, async (number, pass, reply) => {
    const answer = await pass();
    if (number === at[0]) child!.kill("SIGKILL");
    await reply(answer);
    if (number === at[1]) child!.kill("SIGKILL");
  });
  const onStart = (started: ChildProcess) => (child = started);
  const options = { cwd, env: { ...env, SVC_API_URL: gate.url }, onStart };
  const outcomes = [];
  const checkpoints = [];
  for (let run = 0; run < 3; run++) {
    outcomes.push(await backfill(args, options));
    checkpoints.push(await rowsOf(cwd));
  }
  gate.close();
  return { outcomes, checkpoints, batches: gate.batches() };
}

test.concurrent("killed twice, it stores each row once, and customers have the same state as after an undisturbed run", async () => {
  const content = `\uFEFF${ordersCsv(ROWS)}`;
  const place = async (name: string) => {
    return { cwd: await folder(name, { "orders.csv": content }), env: await shop.project(name) };
  };
  const [disturbed, calm] = await Promise.all([place("killed"), place("calm")]);
  const args = ["orders.csv", "--batch", "100", "--sum", "amount", "--recompute", "run", "--project"];
  const first = 1 + Math.floor(Math.random() * 8);
  const at: [number, number] = [first, first + 1 + Math.floor(Math.random() * 8)];

  const [killed, undisturbed] = await Promise.all([
    killedTwice(disturbed.cwd, [...args, "killed"], disturbed.env, at),
    backfill([...args, "calm"], calm),
  ]);
  const message = JSON.stringify({ at, killed }, null, 1);
  expect(killed.outcomes, message).toMatchObject([{ code: "SIGKILL" }, { code: "SIGKILL" }, { code: 0, stderr: "" }]);
  expect(killed.checkpoints[0], message).toBe((at[0] - 1) * 100);
  const last = killed.checkpoints[1]!;
  expect([at[1] - 2, at[1] - 1], message).toContain(last / 100);
  // One more if the sender continued between the answer and its end.
  const needed = at[1] + (ROWS - last) / 100;
  expect([needed, needed + 1], message).toContain(killed.batches);

  const inProject = (project: string) => `${project} in test
  events          2,000, 2,000 more than before the backfill: as many as were sent
  customers       50
`;
  // Timers of the customer in whose history it was killed can have fired before the restart; the recompute corrects that.
  const { stdout } = killed.outcomes[2]!;
  const begun = last === 0 ? "" : `Going on after row ${last.toLocaleString("en-US")} of 2,000\n`;
  expect(stdout.startsWith(`${begun}Done: 2,000 rows\n${FIGURES}`), message).toBe(true);
  expect(stdout, message).toMatch(/\nRecompute rec_\w+: \d of 50 customers differ now\n/);
  expect(stdout.endsWith(inProject("killed")), message).toBe(true);
  expect(undisturbed).toMatchObject({ stderr: "", code: 0 });
  expect(undisturbed.stdout.startsWith(`Done: 2,000 rows\n${FIGURES}Dry run rec_`), undisturbed.stdout).toBe(true);
  expect(undisturbed.stdout.endsWith(inProject("calm")), undisturbed.stdout).toBe(true);

  const [were, should] = await Promise.all([everything("killed"), everything("calm")]);
  expect(should.events).toHaveLength(ROWS);
  expect(should.sum).toEqual([{ sum: "731575.66" }]);
  expect(should.transitions.length).toBeGreaterThan(50);
  expect(should.segments.length).toBeGreaterThan(0);
  expect(should.journeys.length).toBeGreaterThan(0);
  expect(were).toEqual(should);
});

test.concurrent("appended rows are sent and earlier ones are not; sent again from the beginning, it stores nothing", async () => {
  const cwd = await folder("again", { "orders.csv": ordersCsv(4, 1) });
  const env = await shop.project("again");
  const run = async () => (await backfill(["orders.csv", "--project", "again"], { cwd, env })).stdout;
  expect(await run()).toContain("4, 4 more than before the backfill: as many as were sent");
  expect(await run()).toContain("Going on after row 4 of 4\nDone: 4 rows\n");
  await writeFile(path.join(cwd, "orders.csv"), `${ordersCsv(4, 1)}9,z,2012-01-01T00:00:00Z,1,1,2.5,France`);
  expect(await run()).toMatch(/^Going on after row 4 of 5\nDone: 5 rows\n {2}events {10}5\n/);
  await rm(path.join(cwd, "orders.csv.checkpoint.json"));
  expect(await run()).toContain("5, 0 more than before the backfill: 5 were sent");
});

test.concurrent("Ctrl+C waits for the current request, and says how to continue", async () => {
  const cwd = await folder("stopped", { "orders.csv": ordersCsv(1_000) });
  const env = await shop.project("stopped");
  let child: ChildProcess | undefined;
  const gate = await openGate(shop.url, async (number, pass, reply) => {
    if (number === 3) child!.kill("SIGINT");
    await reply(await pass());
  });
  const onStart = (started: ChildProcess) => (child = started);
  const options = { cwd, env: { ...env, SVC_API_URL: gate.url }, onStart };
  const args = ["orders.csv", "--batch", "100"];
  const first = await backfill(args, options);
  // The signal and the answer arrive together: if the answer is handled first, another request is already running.
  const rows = await rowsOf(cwd);
  expect(rows).toBeOneOf([300, 400]);
  expect(first).toEqual({ stdout: `${stopped(rows, "1,000")}\n`, stderr: "", code: 130 });
  const { stdout, code } = await backfill(args, options);
  gate.close();
  expect(stdout).toMatch(new RegExp(`^Going on after row ${rows} of 1,000\nDone: `));
  expect(code).toBe(0);
  expect(gate.batches()).toBe(10);
});

test.concurrent("a history sent in the wrong order is reported by the dry run, and corrected by the recompute", async () => {
  const [newer, older] = [2012, 2011].map((year) =>
    Array.from({ length: 6 }, (_, i) => `${year}-${i},globex,${year}-03-0${i + 1}T00:00:00Z,1,1,700,France`),
  );
  const header = "invoice_no,customer_id,placed_at,lines,units,amount,country";
  const cwd = await folder("late", {
    "orders.csv": [header, ...newer!].join("\n"),
    "older.csv": [header, ...older!].join("\n"),
  });
  const env = await shop.project("late");
  const run = async (file: string, recompute: string) =>
    (await backfill([file, "--project", "late", "--recompute", recompute], { cwd, env })).stdout;
  expect(await run("orders.csv", "dry-run")).toContain("0 of 1 customers would differ\n");
  const corrected = await run("older.csv", "run");
  expect(corrected).toMatch(
    /\nDry run rec_\w+: 1 of 1 customers would differ\n {2}lifecycle {2}\d[^]*\nRecompute rec_\w+: 1 of 1 customers differ now\n {2}lifecycle {2}\d/,
  );
  expect(corrected).toMatch(/\n {4}globex: journeys, runs of rules\n/);
  expect(await run("older.csv", "dry-run")).toContain("0 of 1 customers would differ\n");
});

test.concurrent("refused rows are reported, or written to a file with the reason with --skip-rejected", async () => {
  const env = await shop.project("refused");
  const lines = ordersCsv(6, 1).split("\r\n");
  const cwd = await folder("refused", { "orders.csv": lines.join("\n") });
  await backfill(["orders.csv"], { cwd, env });

  // A used key with another payload; a customer id that is too long; a text that is no number.
  lines[2] = lines[2]!.replace("France", "Spain");
  const fourth = lines[4]!;
  lines[4] = fourth.replace("c ", "c".repeat(300));
  const broken = lines[5]!;
  lines[5] = broken.replace("49.58", "49;58");
  await writeFile(path.join(cwd, "changed.csv"), lines.join("\n"));
  const number = 'column amount: "49;58" is not a number such as 12.50';
  const conflict =
    '409 IDEMPOTENCY_CONFLICT idempotencyKey "shop/orders/2" The idempotency key was used before with another customer, event, properties or explicit timestamp.';
  const long = "customerId: has more than 256 characters";
  const run = (...more: string[]) => backfill(["changed.csv", "--batch", "2", ...more], { cwd, env });
  const none = `2 of 6 rows cannot be sent, so none was:\n  changed.csv:5: ${long}\n  changed.csv:6: ${number}\n${CORRECT}`;
  expect(await run()).toEqual(failed(none));

  await writeFile(path.join(cwd, "changed.csv"), lines.with(4, fourth).with(5, broken).join("\n"));
  expect(await run()).toEqual(failed(`changed.csv:3: ${conflict}\n${stopped(0, 6)}`));

  await writeFile(path.join(cwd, "changed.csv"), lines.join("\n"));
  const figures = /Done: 6 rows\n {2}events {10}3\n.*\n {2}rejected {8}3 rows\n {2}see rejected.jsonl\n/s;
  const done = { stdout: expect.stringMatching(figures), stderr: "", code: 0 };
  expect(await run("--skip-rejected", "rejected.jsonl")).toEqual(done);
  const rejected = await readFile(path.join(cwd, "rejected.jsonl"), "utf8");
  const rejections = linesOf(rejected);
  expect(rejections).toMatchObject([
    { row: 2, line: 3, reason: conflict },
    { row: 4, line: 5, reason: long },
    { row: 5, line: 6, reason: number },
  ]);
  expect(JSON.parse(rejections[0]!["source"] as string)).toMatchObject({ invoice_no: "2", country: "Spain" });

  // Rows after the last checkpoint are sent again, so what was written for them is truncated.
  await writeFile(path.join(cwd, "rejected.jsonl"), `${rejected}{"row":6}\n`);
  expect(await run("--skip-rejected", "rejected.jsonl")).toEqual(done);
  expect(await readFile(path.join(cwd, "rejected.jsonl"), "utf8")).toBe(rejected);
  expect(await run("--skip-rejected", "other.jsonl")).toEqual(
    failed(`rejected rows are in ${path.join(cwd, "rejected.jsonl")}; name the same file again`),
  );
});

test.concurrent("a file for rejected rows is created only for them; svc dev has no recompute, so another next step is named", async () => {
  const cwd = await folder("dev", { "orders.csv": ordersCsv(5) });
  const dev: Answer = { status: 202, body: '{"accepted":5,"rejected":0,"eventIds":[],"states":[]}' };
  const gate = await openGate(shop.url, (_, __, reply) => reply(dev));
  const env = { ...NOWHERE, SVC_API_URL: gate.url };
  // Without rejected rows the file does not bind later runs.
  const shown: string[] = [];
  for (const more of [["--skip-rejected", "a.jsonl"], ["--skip-rejected", "b.jsonl"], []]) {
    const { stdout, ...rest } = await backfill(["orders.csv", ...more], { cwd, env });
    expect(rest).toEqual({ stderr: "", code: 0 });
    shown.push(stdout);
  }
  // Also where nothing was left to send.
  for (const text of shown) {
    expect(text).toMatch(/\nNext, see where the customers stand now: http:\S+\/console\n$/);
    expect(text).not.toContain("recompute");
  }
  gate.close();
  expect(["a.jsonl", "b.jsonl"].filter((file) => existsSync(path.join(cwd, file)))).toEqual([]);
});

/** A service that accepts five operations per batch and reports these figures. */
async function openFigures(figures: { accepted: number; pending: number; ahead: number; customers: number }) {
  const { customers, ...events } = figures;
  const server = createServer((_, response) => response.end(JSON.stringify({ events, customers, customersDue: 0 })));
  const gate = await openGate(await listen(server), (_, __, reply) => reply(ACCEPTED));
  const env = { SVC_API_URL: gate.url, SVC_API_KEY: "svc_test_x", SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o" };
  const close = () => {
    gate.close();
    server.close();
  };
  return { env, close };
}

test.concurrent("the figures of the service say how much of it is not evaluated yet", async () => {
  for (const [pending, ahead, customers] of [
    [7, 2, "3 so far: 5 operations are not evaluated yet"],
    [3, 2, "3 so far: 1 operation is not evaluated yet"],
    [2, 2, "3"],
  ] as const) {
    const cwd = await folder(`waiting-${pending}`, { "orders.csv": ordersCsv(5) });
    const { env, close } = await openFigures({ accepted: 9, pending, ahead, customers: 3 });
    const { stdout } = await backfill(["orders.csv", "--project", "p"], { cwd, env });
    close();
    expect(stdout).toMatch(new RegExp(`\\n  customers       ${customers}\\n$`));
  }
});

test.concurrent("warns of traits before all events", async () => {
  const track = { event: "e", timestamp: "2012-01-01T00:00:00Z", idempotencyKey: "k" };
  const operations = (first: object) => {
    const identify = { type: "identify", traits: { plan: "pro" } };
    const all = [first, identify, identify, identify, identify];
    return all.map((each, n) => JSON.stringify({ customerId: `c${n}`, ...each })).join("\n");
  };
  const warning =
    "backfill: warning: no customer has events yet, so a history that follows these traits comes late; send events first\n";
  for (const [name, first, accepted, stderr] of [
    ["traits", { type: "identify", traits: {} }, 0, warning],
    ["both", track, 0, ""],
    ["traits-after", { type: "identify", traits: {} }, 9, ""],
  ] as const) {
    const cwd = await folder(name, { "rows.jsonl": operations(first) });
    const { env, close } = await openFigures({ accepted, pending: 0, ahead: 0, customers: 0 });
    const args = ["rows.jsonl", "--mapping", beside("operations.mjs"), "--project", "p"];
    expect(await backfill(args, { cwd, env }), name).toMatchObject({ stderr, code: 0 });
    close();
  }
});

test.concurrent("all operations of a batch that violate the schema are rejected at once", async () => {
  const env = await shop.project("strict");
  const event = (i: number, name: string) => {
    const at = { timestamp: `2012-01-0${i}T00:00:00Z`, idempotencyKey: `k${i}` };
    return JSON.stringify({ customerId: "c", event: name, ...at, properties: {} });
  };
  const identify = JSON.stringify({ type: "identify", customerId: "c", traits: { plan: "pro" } });
  const rows = [event(1, "seen"), identify, event(2, "order_placed"), "[]", "{", "", event(3, "order_placed")];
  const cwd = await folder("strict", { "rows.jsonl": rows.join("\n") });
  const gate = await openGate(shop.url, async (_, pass, reply) => reply(await pass()));
  // The name of the source does not change which file it is.
  const named = ["rows.jsonl", "--name", "all"];
  const args = [...named, "--mapping", beside("operations.mjs"), "--skip-rejected", "rejected.jsonl"];
  expect(await backfill(args, { cwd, env: { ...env, SVC_API_URL: gate.url } })).toEqual({
    stdout: expect.stringMatching(
      /Done: 6 rows\n {2}events {10}0\n {2}customers {7}0\n {2}rejected {8}6 rows\n {2}see rejected.jsonl\n$/,
    ),
    stderr: "",
    code: 0,
  });
  gate.close();
  expect(gate.batches()).toBe(1);
  const missing = /422 MISSING_REQUIRED_PROPERTY properties\./;
  expect(linesOf(await readFile(path.join(cwd, "rejected.jsonl"), "utf8"))).toMatchObject(
    [
      [4, /^is not a JSON object$/],
      [5, /^is not JSON: /],
      [1, /^422 UNKNOWN_EVENT event /],
      [2, /^422 UNKNOWN_TRAIT traits\.plan /],
      [3, missing],
      [7, missing],
    ].map(([line, reason]) => ({ line, reason: expect.stringMatching(reason as RegExp) })),
  );
});

test.concurrent("temporary failures are retried; it waits for a plan's rate limit, however often", async () => {
  const message = "The rate limit of this API key allows 2 operations per second.";
  const headers = { "Retry-After": "1" };
  const limited = { status: 429, headers, body: JSON.stringify({ error: { code: "RATE_LIMIT_EXCEEDED", message } }) };
  const answers: (Answer | null)[] = [{ status: 503, headers, body: "<html>" }, limited, limited, null, ACCEPTED];
  const gate = await openGate(shop.url, async (number, _, reply) => {
    const answer = answers[number - 1] ?? null;
    if (answer === null) throw new Error("the connection breaks");
    await reply(answer);
  });
  const cwd = await folder("again-and-again", { "orders.csv": ordersCsv(5) });
  const env = { ...NOWHERE, SVC_API_URL: gate.url };
  const outcome = await backfill(["orders.csv", "--tries", "3"], { cwd, env });
  gate.close();
  expect(outcome).toMatchObject({ stderr: "", code: 0 });
  expect(outcome.stdout.split("\n").slice(0, 4)).toEqual([
    "503 <html>; trying again (1 of 3)",
    `slowed down by the plan: ${message}`,
    expect.stringMatching(/^no answer from http\S+: .+; trying again \(2 of 3\)$/),
    "Done: 5 rows",
  ]);
});

test.concurrent("standard input is read once: a bad row stops the run, which continues after a correction", async () => {
  const env = await shop.project("input");
  const cwd = await folder("input");
  const run = (input: string) =>
    backfill(["-", "--name", "orders", "--batch", "2", "--total", "4"], { cwd, env, input });
  const lines = ordersCsv(3, 1).trimEnd().split("\r\n");
  expect(await run(lines.with(3, "3,z").join("\n"))).toEqual(
    failed(`orders:4: has 2 values, and the header 7 columns\n${stopped(2, 4)}`),
  );
  const { stdout, code } = await run(lines.join("\n"));
  expect(stdout).toMatch(/^Going on after row 2 of 4\nDone: 3 rows \(4 expected\)\n {2}events {10}3\n/);
  expect(code).toBe(0);
});

test.concurrent("an exhausted monthly quota ends it, and it says until when", async () => {
  const { sql } = shop.db;
  const env = await shop.project("quota", "small");
  await sql`insert into iam.plans (plan_id, rate_per_second, rate_burst, monthly_events) values ('three', 1000, 1000, 3)`;
  await sql`update iam.organizations set plan_id = 'three' where slug = 'small'`;
  const cwd = await folder("quota", { "orders.csv": ordersCsv(5, 1) });
  const { stderr, ...outcome } = await backfill(["orders.csv", "--batch", "2"], { cwd, env });
  expect(outcome).toEqual({ stdout: "", code: 1 });
  expect(stderr.replace(/(?<= until )\S+(?=,)|(?<=used in )[\d-]+/g, "…")).toBe(
    `backfill: 429 MONTHLY_QUOTA_EXCEEDED The plan allows 3 events per calendar month. 2 were used in …; the request has 2 more. Wait until …, or ask the operator of this service for a larger plan.\n${stopped(2, 5)}\n`,
  );
});

test.concurrent("an invalid API key or access token ends it immediately", async () => {
  const env = await shop.project("keys");
  const cwd = await folder("keys", { "orders.csv": ordersCsv(5) });
  const unknown = `${shop.url} does not know the API key; set SVC_API_KEY to one of the project and environment`;
  const keyless = { cwd, env: { ...env, SVC_API_KEY: "svc_test_wrong" } };
  expect(await backfill(["orders.csv", "--skip-rejected", "no.jsonl"], keyless)).toEqual(
    failed(`${unknown}\n${stopped(0, 5)}`),
  );
  // Nothing was accepted, so the checkpoint does not bind the corrected run to the previous key.
  const stranger = { cwd, env: { ...env, SVC_ACCESS_TOKEN: "svc_token_wrong" } };
  expect(await backfill(["orders.csv", "--project", "keys", "--skip-rejected", "other.jsonl"], stranger)).toEqual(
    failed(
      "401 INVALID_SESSION The access token is missing, unknown, expired or revoked. Sign in again, or check SVC_ACCESS_TOKEN.",
    ),
  );
});

test.concurrent("a checkpoint of another backfill is refused, and so is a damaged one", async () => {
  const env = await shop.project("checkpoints");
  const other = await shop.project("other");
  const cwd = await folder("checkpoints", { "orders.csv": ordersCsv(5), "more.csv": ordersCsv(9) });
  await backfill(["orders.csv", "--checkpoint", "c.json"], { cwd, env });
  const stderrOf = async (file: string, more: string[] = [], variables = env) => {
    const { stdout, stderr, code } = await backfill([file, "--checkpoint", "c.json", ...more], { cwd, env: variables });
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    return stderr;
  };
  const again = "remove it to begin again; what was sent is recognized by its keys";
  expect(await stderrOf("more.csv")).toBe(
    `backfill: c.json is the checkpoint of "orders.csv", not of "more.csv"; name another with --checkpoint, or ${again}\n`,
  );
  expect(await stderrOf("orders.csv", [], other)).toMatch(
    /^backfill: c\.json is the checkpoint of a backfill to http:\S+ with the key svc_test_… \(\w{8}\), not to http:\S+ with the key svc_test_… \(\w{8}\); name another with --checkpoint, or remove it to begin again; what was sent is recognized by its keys\n$/,
  );
  const checkpoint = await readFile(path.join(cwd, "c.json"), "utf8");
  expect(checkpoint).not.toContain(env["SVC_API_KEY"]);
  const rows = `backfill: the first 5 rows of orders.csv are not those that c.json tells of; put the source back as it was, or remove the checkpoint to begin again\n`;
  await writeFile(path.join(cwd, "more.csv"), ordersCsv(9).replace("France", "Spain"));
  expect(await stderrOf("more.csv", ["--name", "orders.csv"])).toBe(rows);
  await writeFile(path.join(cwd, "orders.csv"), ordersCsv(4));
  expect(await stderrOf("orders.csv")).toBe(rows);
  const changed = (change: object) => JSON.stringify({ ...(JSON.parse(checkpoint) as object), ...change });
  const parts = [{ rows: -1 }, { rejects: undefined }, { rejects: { file: "x" } }, { acceptedBefore: "1" }];
  for (const damaged of [checkpoint.slice(0, 40), "", "null", "{}", ...parts.map(changed)]) {
    await writeFile(path.join(cwd, "c.json"), damaged);
    expect(await stderrOf("orders.csv")).toBe(`backfill: c.json is no checkpoint, or a damaged one; ${again}\n`);
  }
});

test.concurrent("a concurrent run is refused, but a killed one does not block others", async () => {
  const cwd = await folder("twice", { "orders.csv": ordersCsv(5) });
  const args = ["orders.csv", "--checkpoint", "c.json"];
  let first: ChildProcess | undefined;
  const refused: Outcome[] = [];
  const gate = await openGate(shop.url, async (number, _, reply) => {
    if (number === 1) {
      refused.push(await backfill([args[0]!, "--checkpoint", `${cwd}/c.json`], { cwd: directory, env }));
      refused.push(await backfill(args, { cwd, env }));
      first!.kill("SIGKILL");
    }
    await reply(ACCEPTED);
  });
  const env = { ...NOWHERE, SVC_API_URL: gate.url };
  await writeFile(path.join(directory, "orders.csv"), ordersCsv(5));
  expect((await backfill(args, { cwd, env, onStart: (child) => (first = child) })).code).toBe("SIGKILL");
  const conflict = (file: string) =>
    failed(
      `another run has the checkpoint ${file}; wait for its end, or end it, or name another with --checkpoint where it is another backfill`,
    );
  expect(refused).toEqual([conflict(`${cwd}/c.json`), conflict("c.json")]);
  const { stdout, code } = await backfill(args, { cwd, env });
  gate.close();
  expect({ stdout, code }).toEqual({ stdout: expect.stringMatching(/^Done: 5 rows\n/), code: 0 });
  expect(gate.batches()).toBe(2);
});

/** Arguments separated by spaces, the error, and the existing files, or the content of the named one. */
const BAD: [args: string, stderr: string, files?: string | Uint8Array | Record<string, string | Uint8Array>][] = [
  ["", "name one source: a file, - or --command; see --help"],
  ["a.csv b.csv", "name one source: a file, - or --command; see --help"],
  ["a.csv --sort", "Unknown option '--sort'; see --help"],
  ["a.csv --format xlsx", "--format is csv or jsonl"],
  ["a.csv --batch 1001", "--batch is a whole number from 1 to 1000"],
  ["a.csv --total many", "--total is a whole number from 1"],
  ["a.csv --recompute run", "--recompute needs --project"],
  ["a.csv --recompute yes", "--recompute is dry-run or run"],
  ["-", "name the source with --name, so that its checkpoint can be told from others"],
  ["a.csv", "cannot read a.csv: ENOENT: no such file or directory, open 'a.csv'"],
  [".", "cannot read .: EISDIR: illegal operation on a directory, read"],
  ["a.csv", "a.csv has no rows", ""],
  ["a.csv", "a.csv has no rows", `${HEADER}\r\n`],
  ["a.jsonl", "a.jsonl has no rows", "\n\n"],
  [
    "a.csv",
    "a.csv is not UTF-8 after line 2; convert it, with iconv for one",
    Buffer.from(GOOD.replace("Korea", "Cor\u00e9e"), "latin1"),
  ],
  ["a.csv.gz", 'a.csv.gz is compressed; uncompress it first, or name --command "gunzip -c …"', gzipSync(GOOD)],
  ["a.csv", "a.csv: its lines end in CR alone; make them end in LF", "a,b\r1,2\r"],
  ["a.csv", 'a.csv: the header has the column "a" twice', "a,b,a\n1,2,3"],
  ["a.csv", "a.csv: a column of the header has no name", "a,,b\n1,2,3"],
  ["a.csv", 'a.csv: the header is one column, "a;b"; separate columns by commas', "a;b\n1;2,5"],
  [
    "a.csv",
    "1 of 1 row cannot be sent, so none was:\n  a.csv:2: has 1 value, and the header 2 columns\n" + CORRECT,
    "a,b\n1",
  ],
  ["a.csv", "a.csv:3: value 2: the quote that is opened here is never closed", `${HEADER}\n\n1,"two\nlines\n`],
  ["a.csv", 'a.csv:2: value 2: "s" after the closing quote; write "a ""b"" c"', `${HEADER}\n1,"two"s,3`],
  ["a.csv", 'a.csv:2: value 3: a double quote in a value without quotes; write "a ""b"" c"', `${HEADER}\n1,2,3"`],
  [
    "a.csv",
    `6 of 7 rows cannot be sent, so none was:
  a.csv:3: has 2 values, and the header 7 columns
  a.csv:4: column placed_at: "2011-01-01 00:00:00" ${TIME}
  a.csv:5: column placed_at: "2011-02-30T00:00:00" ${TIME}
  a.csv:6: 2010-12-31T23:59:59Z of customer "c "0"" comes after that of 2011-01-01T00:00:00.000Z on line 2; sort by customer and time
  a.csv:7: column invoice_no: is empty; use optional(row, "invoice_no") where it may be
  a.csv:8: column amount: "ten" is not a number such as 12.50
${CORRECT}`,
    [
      HEADER,
      ROW,
      "1,globex",
      ...["2011-01-01 00:00:00", "2011-02-30T00:00:00", "2010-12-31T23:59:59Z"].map((at) =>
        ROW.replace(/2011[^,]+/, at),
      ),
      ROW.replace(/^1,/, ","),
      ROW.replace(/-0\.10/, "ten"),
    ].join("\n"),
  ],
  [
    "a.csv",
    `12 of 12 rows cannot be sent, so none was:
${Array.from({ length: 10 }, (_, i) => `  a.csv:${i + 2}: there is no column "customer_id"; there are id, name\n`).join("")}  and 2 more
${CORRECT}`,
    `id,name\n${"1,2\n".repeat(12)}`,
  ],
  [
    "a.csv --checkpoint no/c.json",
    "cannot write the checkpoint no/c.json: ENOENT: no such file or directory, open 'no/c.json.next'; what was accepted is safe, so make room and start again",
    GOOD,
  ],
  [
    "a.csv --skip-rejected b.jsonl",
    "b.jsonl is there already; name a new file for rejected rows",
    { "a.csv": GOOD, "b.jsonl": "precious" },
  ],
  [
    "a.csv --skip-rejected /dev/full",
    "cannot write rejected rows to /dev/full: EINVAL: invalid argument, ftruncate",
    `${GOOD}5,z`,
  ],
  [
    "a.csv --tries 1",
    `gave up after 1 try: no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2\n${stopped(0, 3)}`,
    GOOD,
  ],
];

test.concurrent("errors before sending take a few lines, with the position", async () => {
  for (const [index, [args, stderr, files]] of BAD.entries()) {
    const named = typeof files === "string" || files instanceof Uint8Array ? { [args.split(" ")[0]!]: files } : files;
    const cwd = await folder(`bad-${index}`, named);
    expect(await backfill(args.split(" ").filter(Boolean), { cwd, env: NOWHERE }), args).toEqual(failed(stderr));
  }
});

test.concurrent("a mapping that cannot be loaded and an unset variable are named", async () => {
  const cwd = await folder("mapping", {
    "a.csv": GOOD,
    "m.mjs": "export const map = 1;",
    "syntax.mjs": "export const",
  });
  const run = (args: string[], env = {}) => backfill(["a.csv", ...args], { cwd, env: { ...NOWHERE, ...env } });
  expect(await run(["--mapping", "m.mjs"])).toEqual(
    failed(`the mapping ${path.join(cwd, "m.mjs")} exports no function toOperation(row)`),
  );
  expect((await run(["--mapping", "syntax.mjs"])).stderr).toMatch(
    /^backfill: cannot load the mapping \S+syntax\.mjs: Unexpected .+\n$/,
  );
  for (const [name, value, problem] of [
    ["SVC_API_URL", "", "set SVC_API_URL; see --help"],
    ["SVC_API_KEY", " ", "set SVC_API_KEY; see --help"],
    ["SVC_API_KEY", "svc_test_secret\nrest", "SVC_API_KEY has a character that none of the service has"],
    ["SVC_API_URL", "svc.example.com", "SVC_API_URL is no address: svc.example.com"],
  ] as const) {
    expect(await run([], { [name]: value })).toEqual(failed(problem));
  }
});

test.concurrent("a command that fails after some rows ends it, and so does a disk without room for the checkpoint", async () => {
  const args = ["--command", `printf '%s\\n' '${HEADER}' && exit 3`, "--name", "orders"];
  expect(await backfill(args, { cwd: await folder("command"), env: NOWHERE })).toEqual(
    failed(`the command of orders failed (exit code 3), see above\n${stopped(0)}`),
  );
  const cwd = await folder("full", { "a.csv": GOOD });
  // No file can grow, so writing fails as on a full disk.
  expect(await backfill(["a.csv"], { cwd, env: NOWHERE, fileBlocksMax: 0 })).toEqual(
    failed(
      "cannot write the checkpoint a.csv.checkpoint.json: EFBIG: file too large, write; what was accepted is safe, so make room and start again",
    ),
  );
});
