// Reads the columns of a row for the mapping. What is not as it should be is told with the column's name.
import { RowProblem } from "./mistake.mjs";

const INSTANT = /^(?!0000)(\d{4}-\d\d-\d\d)T(?!24)\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

/** A text that is not empty. A number of JSON Lines is written out, to its last digit where it is a whole one. */
export function text(row, column) {
  return filled(row, column);
}

/** @param reader of a value that is not empty, where that is no text */
function filled(row, column, reader) {
  const value = optional(row, column);
  if (value !== undefined) return value;
  const fix = `optional(row, "${column}")${reader === undefined ? "" : ` && ${reader}(row, "${column}")`}`;
  throw new RowProblem(`column ${column}: is empty; use ${fix} where it may be`);
}

/** A text; undefined where the column is empty, which leaves the property out. */
export function optional(row, column) {
  const value = row[column];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "object") throw new RowProblem(`column ${column}: ${JSON.stringify(value)} is not a text`);
  return String(value);
}

/** A number with a decimal point, such as -12.50. It is a double, so one of which not even the whole part would be kept is a problem. */
export function number(row, column) {
  if (typeof row[column] === "number") return row[column];
  const value = filled(row, column, "number");
  if (!/^-?\d+(\.\d+)?$/.test(value))
    throw new RowProblem(`column ${column}: "${value}" is not a number such as 12.50`);
  if (Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER)
    throw new RowProblem(`column ${column}: ${value} has more digits than a number keeps; send it as a text`);
  return Number(value);
}

/** ISO 8601 with a time zone. A time without one is another instant on each machine, so none is assumed. */
export function instant(row, column) {
  const value = filled(row, column, "instant");
  if (!isInstant(value)) throw new RowProblem(`column ${column}: "${value}" ${INSTANT_EXPECTED}`);
  return value;
}

export const INSTANT_EXPECTED = "is not a time with a time zone such as 2025-01-08T09:12:00Z";

export function isInstant(value) {
  const [, day] = (typeof value === "string" && INSTANT.exec(value)) || [];
  if (day === undefined || Number.isNaN(Date.parse(value))) return false;
  // Date.parse takes the 30th of February for a day in March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
