/** What figures over time are told by. */
export const EVERY = ["day", "week", "month"] as const;

export type Every = (typeof EVERY)[number];

/** The day of an instant in a time zone, as `2026-03-01`. */
export function dayIn(instant: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(instant).padStart(10, "0");
}

const DAY_MS = 86_400_000;
const dayOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);

/** The first day of the period that a day is in: weeks begin on Monday. */
export function firstDayOf(day: string, every: Every): string {
  if (every === "day") return day;
  if (every === "month") return `${day.slice(0, 7)}-01`;
  const date = new Date(day);
  return dayOf(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS);
}

/** The last day of a period, which its first day names. */
export function lastDayOf(firstDay: string, every: Every): string {
  const date = new Date(firstDay);
  if (every === "month") return dayOf(date.setUTCMonth(date.getUTCMonth() + 1, 0));
  return dayOf(date.getTime() + (every === "week" ? 6 : 0) * DAY_MS);
}
