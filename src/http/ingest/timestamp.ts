const FORM =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:[Zz]|[+-](\d\d)(?::?(\d\d))?)$/;
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?$/;

/** Why a text is no timestamp (ISO 8601 date-time with zone, years 1 to 9999, no leap second, no 24:00); null where it is one. */
export function timestampProblem(text: string): string | null {
  const match = FORM.exec(text);
  if (!match) {
    return WITHOUT_ZONE.test(text)
      ? "The timestamp has no timezone."
      : "The timestamp is not an ISO 8601 date-time with timezone.";
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, offsetHours = 0, offsetMinutes = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return "The date does not exist.";
  if (hour > 23 || minute > 59 || second > 59) {
    return "The time of day does not exist: hours end at 23, minutes and seconds at 59.";
  }
  if (offsetHours > 15 || offsetMinutes > 59) return "The timezone offset does not exist.";
  // The last and the first day are left out, so that an offset cannot lead out of the calendar.
  if (year < 1 || text.startsWith("0001-01-01") || text.startsWith("9999-12-31")) {
    return "The year is outside 1 to 9999.";
  }
  return null;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
