// Rows become operations.
import { INSTANT_EXPECTED, isInstant } from "./columns.mjs";
import { RowProblem } from "./mistake.mjs";
import { readRows } from "./source.mjs";

/**
 * The rows of the source with the operation that the mapping makes of each: `{ number, line, text, operation }`; the operation is null where
 * the mapping leaves the row out, and there is a `problem` instead where nothing can be made of it.
 */
export async function* readOperations(source, toOperation, { anyOrder }) {
  const inOrder = anyOrder ? () => undefined : orderCheck();
  for await (const { row, ...record } of readRows(source)) {
    if (record.problem === undefined) {
      try {
        record.operation = check(toOperation(row));
        if (record.operation !== null) inOrder(record.operation, record.line);
      } catch (error) {
        // A mistake of the mapping's own, such as a value that is undefined, is told with the row at which it shows.
        record.problem = error instanceof RowProblem ? error : new RowProblem(`the mapping failed: ${error.message}`);
      }
    }
    yield record;
  }
}

/** The service's limits of ids and names, and of `properties` and `traits`, each. */
const CHARACTERS_MAX = 256;
const BYTES_MAX = 64 * 1024;
/** PostgreSQL keeps neither U+0000 nor half a surrogate pair. */
const NO_TEXT = /[\0\p{Cs}]/u;

/**
 * What only this side can know to be wrong: the service takes an event without a time for one of now, and one without a key for another one
 * each time. And what needs nobody to know it, so that a check finds it: texts, lengths, sizes. The rest is the service's to say.
 */
function check(operation) {
  if (operation === null) return null;
  if (operation instanceof Promise)
    throw new RowProblem("the mapping returned a promise; it must give the same at once, so it looks nothing up");
  if (typeof operation !== "object") throw new RowProblem("the mapping returned neither an operation nor null");
  const { type = "track", customerId, event, timestamp, idempotencyKey } = operation;
  if (type !== "track" && type !== "identify")
    throw new RowProblem(`type: ${JSON.stringify(type)} is neither "track" nor "identify"`);
  checkId("customerId", customerId);
  JSON.stringify(operation, keepAll);
  const member = type === "identify" ? "traits" : "properties";
  if (Buffer.byteLength(JSON.stringify(operation[member] ?? {})) > BYTES_MAX)
    throw new RowProblem(`${member}: is larger than 64 KiB as JSON`);
  if (type === "identify") return operation;
  checkId("event", event);
  // A Date is an instant, as it is for the client.
  const at = timestamp instanceof Date ? timestamp.toJSON() : timestamp;
  if (!isInstant(at)) throw new RowProblem(`timestamp: ${JSON.stringify(at)} ${INSTANT_EXPECTED}`);
  checkId("idempotencyKey", idempotencyKey, "; make it of the row's primary key");
  return { ...operation, timestamp: at };
}

function checkId(name, value, fix = "") {
  if (typeof value !== "string" || value === "") throw new RowProblem(`${name}: is not a text, or empty${fix}`);
  if ([...value].length > CHARACTERS_MAX)
    throw new RowProblem(`${name}: has more than ${CHARACTERS_MAX} characters${fix}`);
}

/** For JSON.stringify, which makes null of some values and an empty object of others. Only what is undefined is meant to be left out. */
function keepAll(name, value) {
  if (NO_TEXT.test(name) || (typeof value === "string" && NO_TEXT.test(value)))
    throw new RowProblem(`${JSON.stringify(name)}: has the character U+0000 or half a surrogate pair`);
  const isLost =
    ["bigint", "function", "symbol"].includes(typeof value) ||
    (typeof value === "number" && !Number.isFinite(value)) ||
    [Map, Set, Promise].some((type) => value instanceof type);
  if (!isLost) return value;
  const fix = typeof value === "bigint" ? ": it has more digits than a number keeps, so send it as a text" : "";
  throw new RowProblem(`${name}: ${String(value)} cannot be sent${fix}`);
}

/** A check that no event of a customer comes after a later one of the same customer. */
function orderCheck() {
  const latest = new Map();
  return ({ customerId, timestamp }, line) => {
    if (timestamp === undefined) return;
    const at = Date.parse(timestamp);
    const before = latest.get(customerId);
    if (before !== undefined && at < before.at) {
      const later = `that of ${new Date(before.at).toISOString()} on line ${before.line}`;
      throw new RowProblem(`${timestamp} of customer "${customerId}" comes after ${later}; sort by customer and time`);
    }
    latest.set(customerId, { at, line });
  };
}
