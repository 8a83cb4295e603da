import { isCalendarDay } from "../model/snapshot/duration.js";
import type { ApiQuery } from "./source.js";

/** Periods of figures over time. */
export const EVERY = ["day", "week", "month"] as const;

export type Every = (typeof EVERY)[number];

/** The day of an instant in a time zone, as `2026-03-01`. */
export function dayIn(instant: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(instant).padStart(10, "0");
}

/** The first instant of a day in a time zone, in milliseconds since the epoch, like `svc.start_of_day`. */
export function startOfDay(day: string, timeZone: string): number {
  const midnight = Date.parse(day) / 1000;
  // No time zone is further from UTC.
  let [before, within] = [midnight - ZONE_SECONDS_MAX, midnight + ZONE_SECONDS_MAX];
  while (within - before > 1) {
    const between = Math.floor((before + within) / 2);
    if (dayIn(between * 1000, timeZone) < day) before = between;
    else within = between;
  }
  return within * 1000;
}

const ZONE_SECONDS_MAX = 17 * 3600;

/** Parameters that are instants; `from` and `to` are days. */
const INSTANTS = ["at", "since"] as const;

/** Asks with days of a time zone: a date without a time becomes the first instant of that day there; the API would read it as 00:00 UTC. */
export function askInDays(ask: ApiQuery, timeZone: string): ApiQuery {
  return (question, of = {}) => {
    const asked: Record<string, string | undefined> = { ...of };
    for (const name of INSTANTS) {
      const day = asked[name];
      // Year 1 may begin before the first instant that the API accepts.
      if (day !== undefined && isCalendarDay(day) && day >= "0002")
        asked[name] = new Date(startOfDay(day, timeZone)).toISOString();
    }
    return ask(question, asked);
  };
}

const DAY_MS = 86_400_000;
const dayOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10);

/** The first day of the period of a day. Weeks begin on Monday. */
export function firstDayOf(day: string, every: Every): string {
  if (every === "day") return day;
  if (every === "month") return `${day.slice(0, 7)}-01`;
  const date = new Date(day);
  return dayOf(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS);
}

/** The last day of the period with this first day. */
export function lastDayOf(firstDay: string, every: Every): string {
  const date = new Date(firstDay);
  if (every === "month") return dayOf(date.setUTCMonth(date.getUTCMonth() + 1, 0));
  return dayOf(date.getTime() + (every === "week" ? 6 : 0) * DAY_MS);
}
