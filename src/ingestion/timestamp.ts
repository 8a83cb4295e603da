const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?$/;

/** Forms of ISO 8601 that are not accepted: without separators, by week, by day of the year. */
const OTHER_FORM = /^\d{4}(?:\d{4}|-?W\d\d-?\d|-?\d{3})T\d\d/;

/** The range of instants whose year in UTC has four digits. */
const BEGIN_MS = Date.parse("0001-01-01T00:00:00Z");
const END_MS = Date.parse("9999-12-31T23:59:59.999Z") + 1;

/** An instant with the service's precision of microseconds. It is split because a double cannot represent microseconds exactly for all years. */
export interface Timestamp {
  /** Whole milliseconds since 1970 UTC, floored. */
  milliseconds: number;
  /** 0 to 999. */
  microseconds: number;
}

/** Why a text is not a timestamp (ISO 8601 date-time with zone, years 1 to 9999, no leap second, no 24:00); null if it is one. */
export function timestampProblem(text: string): string | null {
  const read = readTimestamp(text);
  return typeof read === "string" ? read : null;
}

/** The instant of a timestamp. Throws RangeError if `timestampProblem` is not null. */
export function parseTimestamp(text: string): Timestamp {
  const read = readTimestamp(text);
  if (typeof read === "string") throw new RangeError(read);
  return read;
}

function readTimestamp(text: string): Timestamp | string {
  const match = FORM.exec(text);
  if (!match) {
    if (OTHER_FORM.test(text))
      return "The timestamp is in a form of ISO 8601 that is not accepted; write it as 2026-03-02T10:00:00Z.";
    return WITHOUT_ZONE.test(text)
      ? "The timestamp has no timezone."
      : "The timestamp is not an ISO 8601 date-time with timezone.";
  }
  const part = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  // The database does not accept this year, even if the instant in UTC is in the next one.
  if (year === 0) return "There is no year 0000.";
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  // A month or a day that does not exist is carried over to another month.
  if (midnight.getUTCMonth() !== month - 1) return "The date does not exist.";
  if (hour > 23 || minute > 59 || second > 59) {
    return "The time of day does not exist: hours end at 23, minutes and seconds at 59.";
  }
  const [offsetHours, offsetMinutes] = [part(9), part(10)];
  if (offsetHours > 15 || offsetMinutes > 59) return "The timezone offset does not exist.";
  const offset = (match[8] === "-" ? -1 : 1) * (offsetHours * 60 + offsetMinutes);
  const seconds = midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000;
  // The database stores microseconds, and rounds to them in the same way.
  const fraction = roundHalfToEven(Number(`0.${match[7] ?? "0"}`) * 1e6);
  const milliseconds = seconds + Math.floor(fraction / 1000);
  if (seconds < BEGIN_MS || milliseconds >= END_MS) return "The instant is outside the years 1 to 9999 (UTC).";
  return { milliseconds, microseconds: fraction % 1000 };
}

function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  return value - floor === 0.5 ? floor + (floor % 2) : Math.round(value);
}
