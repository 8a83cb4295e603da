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

/** Whether a text is a well-formed duration longer than 3,650 days. */
export function isTooLongDuration(text: string): boolean {
  const length = lengthOf(text);
  return length !== null && length > MAX_DURATION_MILLISECONDS;
}

function lengthOf(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  return count === undefined ? null : Number(count) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS];
}

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;

/** Anything later counts as never: people write 9999-12-31 for that, and instants are formatted with four digits of the year. */
export const LATEST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * The instant of an ISO 8601 date (00:00 UTC) or of a date-time with a zone, in milliseconds, floored; undefined for
 * everything else, such as a date-time without a zone or a day that does not exist.
 */
export function parseInstant(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const match = INSTANT.exec(value);
  if (!match) return undefined;
  const part = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const [offsetHours, offsetMinutes] = [part(9), part(10)];
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return undefined;
  date.setUTCHours(hour, minute, second, Number((match[7] ?? "").padEnd(3, "0").slice(0, 3)));
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return date.getTime() + (match[8] === "-" ? offset : -offset);
}

/** The form of a date that a model or a strict schema accepts, which is narrower than what `parseInstant` reads. */
const STRICT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Whether a text is an existing ISO 8601 date, or a date-time with a zone. Hour 24 and leap seconds are not accepted. */
export function isIsoDate(text: string): boolean {
  return STRICT.test(text) && parseInstant(text) !== undefined;
}

/** Whether a text is an existing ISO 8601 date without a time. */
export function isCalendarDay(text: string): boolean {
  return text.length === "2026-03-01".length && isIsoDate(text);
}
