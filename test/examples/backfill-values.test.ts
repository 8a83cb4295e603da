import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { startFront } from "../client/support/front.js";
import { Memory } from "../client/support/memory.js";
import { useDirectory } from "../support/directory.js";
import { backfill, beside } from "./support/program.js";

// No value of a source changes on its way: a value that cannot be kept is reported with its row.

const directory = await useDirectory();

async function mapping(name: string, body: string): Promise<string> {
  const columns = JSON.stringify(beside("lib/columns.mjs"));
  const code = `import { instant, number, optional, text } from ${columns};\nexport const toOperation = ${body};`;
  await writeFile(path.join(directory, `${name}.mjs`), code);
  return path.join(directory, `${name}.mjs`);
}

/** A check of a JSON Lines file by a mapping with this body. */
async function checked(name: string, rows: readonly string[], body: string) {
  const file = await mapping(name, body);
  await writeFile(path.join(directory, `${name}.jsonl`), rows.join("\n"));
  const args = [`${name}.jsonl`, "--mapping", file, "--check", "--sum", "amount"];
  return backfill(args, { cwd: directory });
}

const refusalOf = async (...of: Parameters<typeof checked>): Promise<string> => (await checked(...of)).stderr;

/** The problems of the rows, line by line; nothing is sent. */
async function problemsOf(...of: Parameters<typeof checked>): Promise<string[]> {
  const { stderr, stdout } = await checked(...of);
  if (stderr === "") return [stdout];
  return [...stderr.matchAll(/^ {2} *(.*)$/gm)].map(([, line]) => line!);
}

test("large JSON integers keep all their digits as texts, so ids that differ in the last one stay different", async () => {
  const ids = ["12345678901234567891", "12345678901234567892", "-9007199254740993", "9007199254740991"];
  const rows = ids.map(
    (id) => `{"id":${id},"name":"\\"${id}\\u0000","at":"2025-01-01T00:00:00Z","x":[0.1${id.replace("-", "")}]}`,
  );
  await writeFile(path.join(directory, "ids.jsonl"), rows.join("\n"));
  const file = await mapping(
    "ids",
    `(row) => ({
      customerId: text(row, "id"), event: "e", timestamp: instant(row, "at"), idempotencyKey: "orders/" + text(row, "id"),
      properties: { name: row.name.length, x: typeof row.x[0] },
    })`,
  );
  const memory = new Memory();
  const front = await startFront(memory.backend);
  const env = { SVC_API_URL: front.url, SVC_API_KEY: "svc_test_x" };
  const { stderr, code } = await backfill(["ids.jsonl", "--mapping", file], { cwd: directory, env });
  await front.stop();
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(memory.accepted).toMatchObject(
    ids.map((id) => {
      const properties = { name: id.length + 2, x: "number" };
      return { customerId: id, idempotencyKey: `orders/${id}`, properties };
    }),
  );
});

test("a number that cannot be kept and a value that is no text are problems of their rows", async () => {
  const rows = [
    '{"c":"a","amount":12345678901234567891}',
    '{"c":"a","amount":"12345678901234567.25"}',
    '{"c":{"id":1},"amount":1}',
    '{"c":"a","amount":1,"note":["x"]}',
    '{"c":"a","amount":1e999}',
    '{"c":7,"amount":1e-7,"note":false}',
  ];
  const body = `(row) => ({
    customerId: text(row, "c"), event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k",
    properties: { amount: number(row, "amount"), note: optional(row, "note") },
  })`;
  expect(await problemsOf("numbers", rows, body)).toEqual([
    "numbers.jsonl:1: column amount: 12345678901234567891 has more digits than a number keeps; send it as a text",
    "numbers.jsonl:2: column amount: 12345678901234567.25 has more digits than a number keeps; send it as a text",
    'numbers.jsonl:3: column c: {"id":1} is not a text',
    'numbers.jsonl:4: column note: ["x"] is not a text',
    "numbers.jsonl:5: amount: Infinity cannot be sent",
  ]);
});

test("an optional column is read as the message advises, and is left out if it is empty", async () => {
  const body = (note: string, amount: string, paid: string) => `(row) => ({
    customerId: "c", event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k",
    properties: { note: ${note}, amount: ${amount}, paid: ${paid} },
  })`;
  const [text, number, instant] = ['text(row, "note")', 'number(row, "amount")', 'instant(row, "paid")'] as const;
  const rows = [
    '{"note":"","amount":"1","paid":"2025-01-01T00:00:00Z"}',
    '{"note":0,"amount":""}',
    '{"note":"x","amount":0}',
  ];
  const [note, amount, paid] = [
    'optional(row, "note")',
    'optional(row, "amount") && number(row, "amount")',
    'optional(row, "paid") && instant(row, "paid")',
  ] as const;
  expect(await problemsOf("blank", rows, body(text, number, instant))).toEqual([
    `blank.jsonl:1: column note: is empty; use ${note} where it may be`,
    `blank.jsonl:2: column amount: is empty; use ${amount} where it may be`,
    `blank.jsonl:3: column paid: is empty; use ${paid} where it may be`,
  ]);
  expect(await problemsOf("left-out", rows, body(note, amount, paid))).toEqual([
    expect.stringMatching(/^left-out\.jsonl can be sent: 3 rows\n/),
  ]);
});

test("a mapped value that JSON does not have is reported with its row, without a stack trace", async () => {
  const values: [value: string, problem: string][] = [
    ["NaN", "amount: NaN cannot be sent"],
    ["10n", "amount: 10 cannot be sent: it has more digits than a number keeps, so send it as a text"],
    ["Symbol('s')", "amount: Symbol(s) cannot be sent"],
    ["() => 1", "amount: () => 1 cannot be sent"],
    ["new Map()", "amount: [object Map] cannot be sent"],
    ["Promise.resolve(1)", "amount: [object Promise] cannot be sent"],
    ["circle", "the mapping failed: Converting circular structure to JSON"],
  ];
  const body = `(row) => ({ customerId: "c", event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k",
    properties: { none: undefined, amount: [${values.map(([value]) => value).join()}][row.n] } });
    const circle = {};
    circle.a = circle`;
  const rows = values.map((_, n) => JSON.stringify({ n }));
  const problems = await problemsOf("made", rows, body);
  expect(problems.filter((line) => line.startsWith("made.jsonl"))).toEqual(
    values.map(([, problem], n) => `made.jsonl:${n + 1}: ${problem}`),
  );
});

test("values that the service always refuses are found before anything is sent", async () => {
  const made = [
    `"c".repeat(257)`,
    `"\\0"`,
    `"c", event: "é".repeat(257)`,
    `"c", properties: { a: "é".repeat(32_768) }`,
  ];
  const rows = [...made, `"é".repeat(256)`].map((_, n) => JSON.stringify({ n }));
  const body = `(row) => ({ event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k",
    ...[${[...made, `"é".repeat(256)`].map((value) => `{ customerId: ${value} }`).join()}][row.n] })`;
  expect(await problemsOf("never", rows, body)).toEqual([
    "never.jsonl:1: customerId: has more than 256 characters",
    'never.jsonl:2: "customerId": has the character U+0000 or half a surrogate pair',
    "never.jsonl:3: event: has more than 256 characters",
    "never.jsonl:4: properties: is larger than 64 KiB as JSON",
  ]);
});

test("a check reports repeated keys and events in the future", async () => {
  const rows = ["k1", "k2", "k1", "k3", "k1", "k3"].map((key, n) =>
    JSON.stringify({ key, at: n < 4 ? "2025-01-01T00:00:00Z" : "2999-01-01T00:00:00Z", amount: 1 }),
  );
  const body = `(row) => ({ customerId: "c", event: "e", timestamp: row.at, idempotencyKey: row.key, properties: { amount: row.amount } })`;
  const [problem] = await problemsOf("twice", rows, body);
  expect(problem).toBe(`twice.jsonl can be sent: 6 rows
  events          6
  customers       1
  from            2025-01-01T00:00:00.000Z
  to              2999-01-01T00:00:00.000Z
  ahead of now    2 events
  repeated keys   2, each stored once
  sum of amount   6
`);
  const [once] = await problemsOf("once", [rows[0]!], body);
  expect(once).not.toMatch(/ahead|keys/);
});

test("a sum of a property that no event has as a number is refused, with the properties there are", async () => {
  const body = `(row) => ({ customerId: "c", event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k", properties: row })`;
  const refused = "--sum amount: no event has a number of this name";
  expect(await refusalOf("misspelt", ['{"amout":1,"note":"x"}', '{"units":2}'], body)).toBe(
    `backfill: ${refused}; there are amout, units\n`,
  );
  expect(await refusalOf("of-texts", ['{"amount":"12.50"}'], body)).toBe(`backfill: ${refused}; there is none\n`);
});

test("a mapping that returns something invalid is reported with what it returned", async () => {
  const body = `(row) => [Promise.resolve({}), { type: "identity", customerId: "c" }][row.n]`;
  expect(await problemsOf("given", ['{"n":0}', '{"n":1}'], body)).toEqual([
    "given.jsonl:1: the mapping returned a promise; it must give the same at once, so it looks nothing up",
    'given.jsonl:2: type: "identity" is neither "track" nor "identify"',
  ]);
});

test("an impossible day is a problem of its row only, and does not affect the order of later rows", async () => {
  const refused = ["2025-02-30T00:00:00Z", "2025-02-28T24:00:00Z", "0000-01-01T00:00:00Z", "2024-02-29t23:59:60z"];
  const rows = [...refused, "2025-03-01T00:00:00+01:00"].map((at) => JSON.stringify({ at }));
  const body = (timestamp: string) =>
    `(row) => ({ customerId: "c", event: "e", timestamp: ${timestamp}, idempotencyKey: row.at })`;
  const problem = "is not a time with a time zone such as 2025-01-08T09:12:00Z";
  expect(await problemsOf("days", rows, body('instant(row, "at")'))).toEqual(
    refused.map((at, index) => `days.jsonl:${index + 1}: column at: "${at}" ${problem}`),
  );
  // A Date is an instant; JSON turns an invalid one into null.
  const dates = ["2025-02-28T00:00:00Z", "yesterday"].map((at) => JSON.stringify({ at }));
  expect(await problemsOf("dates", dates, body("new Date(row.at)"))).toEqual([
    `dates.jsonl:2: timestamp: null ${problem}`,
  ]);
});
