/**
 * The simulated days. A day of the history begins at "office midnight": the customers sit in the time zone in which the history's
 * end, the base, is midnight. Nobody works before 06:30, and the example model's durations are whole days, so no window ends and
 * no silence lasts long enough in the hours after the base. Whatever time of day the demo runs at, and however long it takes, the
 * service's clock stands in that quiet night and the derived state is the same.
 */
import type { Random } from "./random.js";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The first and the last minute of a day in which anything happens. */
const FIRST_MINUTE = 6 * 60 + 30;
const LAST_MINUTE = 22 * 60 + 30;

/** Activity relative to a usual working day, from Sunday to Saturday. */
const WEEKDAY_ACTIVITY = [0.07, 0.95, 1, 1, 0.96, 0.78, 0.1] as const;

export class Calendar {
  /** When the first day begins, in milliseconds since 1970. */
  readonly start: number;

  /** @param base the instant at which the history ends, in milliseconds since 1970 @param days its length */
  constructor(
    readonly base: number,
    readonly days: number,
  ) {
    this.start = base - days * DAY_MS;
  }

  /** 0 is Sunday: the weekday that UTC has at the day's noon. */
  weekday(day: number): number {
    return new Date(this.start + day * DAY_MS + DAY_MS / 2).getUTCDay();
  }

  /** This day's activity relative to a usual working day, from 0 to 1. */
  activity(day: number): number {
    return WEEKDAY_ACTIVITY[this.weekday(day)] ?? 0;
  }

  /** The instant of a minute of a day, moved into the hours in which anything happens. */
  instant(day: number, minute: number): number {
    const within = Math.min(LAST_MINUTE, Math.max(FIRST_MINUTE, minute));
    return this.start + day * DAY_MS + Math.floor(within * MINUTE_MS);
  }

  /** A minute at which people work: two humps, before and after lunch. */
  workingMinute(random: Random): number {
    return random.chance(0.55) ? random.around(10 * 60, 55) : random.around(14.75 * 60, 80);
  }

  /** The text of a date trait: the close of business of the day, with its zone. */
  closeOfBusiness(day: number): string {
    return new Date(this.instant(day, 18 * 60)).toISOString();
  }

  /** The latest Tuesday at least `back` days before the end, or the first day if the history is too short for one. */
  tuesdayBefore(back: number): number {
    for (let day = this.days - back; day >= 0; day--) if (this.weekday(day) === 2) return day;
    return 0;
  }
}
