// Reads the columns of a row for the mapping. What is not as it should be is told with the column's name.
import { RowProblem } from "./mistake.mjs";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

/** A text that is not empty. */
export function text(row, column) {
  const value = row[column];
  if (value === undefined || value === null || value === "") throw new RowProblem(`column ${column}: is empty`);
  return String(value);
}

/** A text; undefined where the column is empty, which leaves the property out. */
export function optional(row, column) {
  const value = row[column];
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

/** A number with a decimal point, such as -12.50. */
export function number(row, column) {
  const value = text(row, column);
  if (!/^-?\d+(\.\d+)?$/.test(value))
    throw new RowProblem(`column ${column}: "${value}" is not a number such as 12.50`);
  return Number(value);
}

/** ISO 8601 with a time zone. A time without one is another instant on each machine, so none is assumed. */
export function instant(row, column) {
  const value = text(row, column);
  if (!isInstant(value)) throw new RowProblem(`column ${column}: "${value}" ${INSTANT_EXPECTED}`);
  return value;
}

export const INSTANT_EXPECTED = "is not a time with a time zone such as 2025-01-08T09:12:00Z";

export function isInstant(value) {
  return typeof value === "string" && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
}
