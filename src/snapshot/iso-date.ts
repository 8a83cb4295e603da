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
