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

/**
 * What only this side can know to be wrong: the service takes an event without a time for one of now, and one without a key for another one
 * each time. The rest is the service's to say.
 */
function check(operation) {
  if (operation === null) return null;
  if (operation instanceof Promise)
    throw new RowProblem("the mapping returned a promise; it must give the same at once, so it looks nothing up");
  if (typeof operation !== "object") throw new RowProblem("the mapping returned neither an operation nor null");
  const { type = "track", customerId, timestamp, idempotencyKey } = operation;
  if (type !== "track" && type !== "identify")
    throw new RowProblem(`type: ${JSON.stringify(type)} is neither "track" nor "identify"`);
  if (typeof customerId !== "string" || customerId === "") throw new RowProblem("customerId: is not a text, or empty");
  JSON.stringify(operation, keepAll);
  if (type === "identify") return operation;
  // A Date is an instant, as it is for the client.
  const at = timestamp instanceof Date ? timestamp.toJSON() : timestamp;
  if (!isInstant(at)) throw new RowProblem(`timestamp: ${JSON.stringify(at)} ${INSTANT_EXPECTED}`);
  if (typeof idempotencyKey !== "string" || idempotencyKey === "")
    throw new RowProblem("idempotencyKey: is not a text, or empty; make it of the row's primary key");
  return { ...operation, timestamp: at };
}

/** For JSON.stringify, which makes null of some values and an empty object of others. Only what is undefined is meant to be left out. */
function keepAll(name, value) {
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
