import type { Duration } from "./types.js";

const UNIT_MILLISECONDS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** The longest duration a model may use: 3,650 days, far beyond any useful window and far inside exact integers. */
const MAX_DURATION_MILLISECONDS = 3_650 * UNIT_MILLISECONDS.d;

const DURATION = /^([1-9][0-9]{0,7})([mhdw])$/;

/**
 * The length of a duration such as "15m", "12h", "7d" or "4w", in milliseconds. Lengths are fixed: a day is 24 hours.
 *
 * @throws {RangeError} if the text is no such duration, is zero, or is longer than 3,650 days.
 */
export function parseDuration(text: Duration): number {
  const length = lengthOf(text);
  if (length === null) {
    throw new RangeError(
      `${JSON.stringify(text)} is no duration; write a whole number and a unit, such as "15m", "12h", "7d" or "4w"`,
    );
  }
  if (length > MAX_DURATION_MILLISECONDS) {
    throw new RangeError(`the duration ${JSON.stringify(text)} is longer than the longest one allowed, "3650d"`);
  }
  return length;
}

/** Whether a text is a duration that `parseDuration` accepts. */
export function isDuration(text: string): boolean {
  const length = lengthOf(text);
  return length !== null && length <= MAX_DURATION_MILLISECONDS;
}

function lengthOf(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  return count === undefined ? null : Number(count) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS];
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-](\d{2}):(\d{2})))?$/;

/** Whether a text is an ISO 8601 date of the calendar, or a date-time with a zone. Hour 24 and leap seconds are not taken. */
export function isIsoDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const part = (group: number) => Number(match[group] ?? 0);
  const calendar = new Date(0);
  calendar.setUTCFullYear(part(1), part(2) - 1, part(3));
  // A day or a month that does not exist moves the date on.
  const exists = calendar.getUTCMonth() === part(2) - 1 && calendar.getUTCDate() === part(3);
  return exists && part(4) < 24 && part(5) < 60 && part(6) < 60 && part(7) < 24 && part(8) < 60;
}
