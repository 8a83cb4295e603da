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
async function checked(name: string, rows: readonly string[], body: string, ...more: string[]) {
  const file = await mapping(name, body);
  await writeFile(path.join(directory, `${name}.jsonl`), rows.join("\n"));
  return backfill([`${name}.jsonl`, "--mapping", file, "--check", ...more], { cwd: directory });
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

const DIGITS = "has more digits than a number keeps";
const DAY = "is not a time with a time zone such as 2025-01-08T09:12:00Z";
const amount = 'op({ properties: { amount: number(row, "amount") } })';
const valued = (value: string) => `op({ properties: { amount: ${value} } })`;
const dated = 'op({ customerId: "d", timestamp: instant(row, "at") })';
const blank = (column: string) => `column ${column}: is empty; use optional(row, "${column}")`;

/** The operation that a mapping makes of a row, the row, and the problem that is reported, if any. */
const CASES: [operation: string, row: string, problem: string | null][] = [
  [amount, '{"amount":12345678901234567891}', `column amount: 12345678901234567891 ${DIGITS}; send it as a text`],
  [amount, '{"amount":"12345678901234567.25"}', `column amount: 12345678901234567.25 ${DIGITS}; send it as a text`],
  ['op({ customerId: text(row, "c") })', '{"c":{"id":1}}', 'column c: {"id":1} is not a text'],
  ['op({ properties: { note: optional(row, "note") } })', '{"note":["x"]}', 'column note: ["x"] is not a text'],
  [amount, '{"amount":1e999}', "amount: Infinity cannot be sent"],
  [amount, '{"amount":1e-7}', null],
  ['op({ customerId: text(row, "c"), properties: { note: optional(row, "note") } })', '{"c":7,"note":false}', null],
  // An optional column is read as the message advises.
  ['op({ event: text(row, "note") })', '{"note":""}', `${blank("note")} where it may be`],
  [amount, '{"amount":""}', `${blank("amount")} && number(row, "amount") where it may be`],
  [dated, "{}", `${blank("at")} && instant(row, "at") where it may be`],
  ['op({ properties: { note: optional(row, "note") } })', '{"note":""}', null],
  [valued('optional(row, "amount") && number(row, "amount")'), '{"amount":""}', null],
  [valued('optional(row, "at") && instant(row, "at")'), "{}", null],
  // Values that JSON does not have.
  [valued("NaN"), "{}", "amount: NaN cannot be sent"],
  [valued("10n"), "{}", `amount: 10 cannot be sent: it ${DIGITS}, so send it as a text`],
  [valued("Symbol('s')"), "{}", "amount: Symbol(s) cannot be sent"],
  [valued("() => 1"), "{}", "amount: () => 1 cannot be sent"],
  [valued("new Map()"), "{}", "amount: [object Map] cannot be sent"],
  [valued("Promise.resolve(1)"), "{}", "amount: [object Promise] cannot be sent"],
  [valued("undefined"), "{}", null],
  [valued("circle"), "{}", "the mapping failed: Converting circular structure to JSON"],
  [
    "Promise.resolve({})",
    "{}",
    "the mapping returned a promise; it must give the same at once, so it looks nothing up",
  ],
  ["row.a.b", "{}", "the mapping failed: Cannot read properties of undefined (reading 'b')"],
  ["{}", "{}", "customerId: is not a text, or empty"],
  ["op({ timestamp: undefined })", "{}", `timestamp: undefined ${DAY}`],
  [
    "op({ idempotencyKey: undefined })",
    "{}",
    "idempotencyKey: is not a text, or empty; make it of the row's primary key",
  ],
  ['{ type: "identity", customerId: "c" }', "{}", 'type: "identity" is neither "track" nor "identify"'],
  // Values that the service always refuses.
  ['op({ customerId: "c".repeat(257) })', "{}", "customerId: has more than 256 characters"],
  ['op({ customerId: "\\0" })', "{}", '"customerId": has the character U+0000 or half a surrogate pair'],
  ['op({ event: "é".repeat(257) })', "{}", "event: has more than 256 characters"],
  ['op({ properties: { a: "é".repeat(32_768) } })', "{}", "properties: is larger than 64 KiB as JSON"],
  ['op({ customerId: "é".repeat(256) })', "{}", null],
  // An impossible day does not affect the order of later rows; a Date is an instant, and JSON turns an invalid one into null.
  ...["2025-02-30T00:00:00Z", "2025-02-28T24:00:00Z", "0000-01-01T00:00:00Z", "2024-02-29t23:59:60z"].map(
    (at): (typeof CASES)[number] => [dated, JSON.stringify({ at }), `column at: "${at}" ${DAY}`],
  ),
  [dated, '{"at":"2025-03-01T00:00:00+01:00"}', null],
  ["op({ timestamp: new Date(row.at) })", '{"at":"2025-02-28T00:00:00Z"}', null],
  ["op({ timestamp: new Date(row.at) })", '{"at":"yesterday"}', `timestamp: null ${DAY}`],
];

test("a value that cannot be sent as it is is a problem of its row, and nothing is sent", async () => {
  // Ten problems are shown.
  for (let from = 0; from < CASES.length; from += 10) {
    const some = CASES.slice(from, from + 10);
    const rows = some.map(([, row], n) => JSON.stringify({ n }).replace("}", row === "{}" ? "}" : `,${row.slice(1)}`));
    const body = `(row) => [${some.map(([operation]) => `() => (${operation})`).join()}][row.n]();
      const base = { customerId: "c", event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k" };
      const op = (more) => ({ ...base, ...more });
      const circle = {};
      circle.a = circle`;
    const { stdout, stderr } = await checked(`cases-${from}`, rows, body);
    expect(stdout).toBe("");
    expect(stderr).not.toContain("\n    at ");
    const problems = [...stderr.matchAll(/^ {2}cases-\d+\.jsonl:(\d+): (.*)$/gm)].map(([, line, text]) => [line, text]);
    expect(problems).toEqual(some.flatMap(([, , text], n) => (text === null ? [] : [[`${n + 1}`, text]])));
  }
});

test("a check reports repeated keys and events in the future", async () => {
  const rows = ["k1", "k2", "k1", "k3", "k1", "k3"].map((key, n) =>
    JSON.stringify({ key, at: n < 4 ? "2025-01-01T00:00:00Z" : "2999-01-01T00:00:00Z", amount: 1 }),
  );
  const body = `(row) => ({ customerId: "c", event: "e", timestamp: row.at, idempotencyKey: row.key, properties: { amount: row.amount } })`;
  const { stdout } = await checked("twice", rows, body, "--sum", "amount");
  expect(stdout).toBe(`twice.jsonl can be sent: 6 rows
  events          6
  customers       1
  from            2025-01-01T00:00:00.000Z
  to              2999-01-01T00:00:00.000Z
  ahead of now    2 events
  repeated keys   2, each stored once
  sum of amount   6
`);
  expect((await checked("once", [rows[0]!], body)).stdout).not.toMatch(/ahead|keys/);
});

test("a sum of a property that no event has as a number is refused, with the properties there are", async () => {
  const body = `(row) => ({ customerId: "c", event: "e", timestamp: "2025-01-01T00:00:00Z", idempotencyKey: "k", properties: row })`;
  const refused = "--sum amount: no event has a number of this name";
  const refusalOf = async (name: string, rows: string[]) => (await checked(name, rows, body, "--sum", "amount")).stderr;
  expect(await refusalOf("misspelt", ['{"amout":1,"note":"x"}', '{"units":2}'])).toBe(
    `backfill: ${refused}; there are amout, units\n`,
  );
  expect(await refusalOf("of-texts", ['{"amount":"12.50"}'])).toBe(`backfill: ${refused}; there is none\n`);
});
