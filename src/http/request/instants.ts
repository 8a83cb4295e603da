import {
  isCalendarDay,
  isDuration,
  isIsoDate,
  isTooLongDuration,
  parseDuration,
} from "../../model/snapshot/duration.js";
import { invalidField } from "../errors.js";

/**
 * The instant that a query gives as a date (00:00 UTC), as a date-time with timezone, or as a duration before now.
 *
 * @throws {ApiError} 400 VALIDATION_ERROR
 */
export function instantOf(text: string, field: string, now = Date.now()): Date {
  if (isDuration(text)) return new Date(now - parseDuration(text));
  if (isTooLongDuration(text)) {
    const fix = "Write 3650d or less, or a date.";
    throw invalidField(field, text, `\`${field}\` is longer than the longest duration, 3650d.`, fix);
  }
  const date = isIsoDate(text) ? new Date(text) : null;
  // The database takes years of four digits, in UTC too.
  if (date && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999) return date;
  const fix = "Write for example 7d, 2026-03-01 or 2026-03-01T09:00:00Z.";
  throw invalidField(field, text, `\`${field}\` is neither a duration nor a date.`, fix);
}

/** As `instantOf`, for the parameter `at`: an instant that has passed. @throws {ApiError} 400 VALIDATION_ERROR */
export function pastInstantOf(text: string, now = Date.now()): Date {
  const instant = instantOf(text, "at", now);
  if (instant.getTime() <= now) return instant;
  throw invalidField("at", text, "`at` is in the future.", "Use an instant that has passed.");
}

/** The duration of a query, such as 7d, in seconds. @throws {ApiError} 400 VALIDATION_ERROR */
export function secondsOf(duration: string, field: string): number {
  if (isDuration(duration)) return parseDuration(duration) / 1000;
  const fix = "Write a whole number and a unit, for example 12h, 7d or 4w.";
  throw invalidField(field, duration, `\`${field}\` is not a duration, or longer than 3650d.`, fix);
}

/** Checks that a day of a query, if given, exists in the calendar. @throws {ApiError} 400 VALIDATION_ERROR */
export function calendarDay(day: string | undefined, field: string): string | undefined {
  if (day === undefined || (isCalendarDay(day) && day >= "0001")) return day;
  throw invalidField(field, day, `\`${field}\` is not a day.`, "Write for example 2026-03-01.");
}

/** Checks the first and last day of a query, each if given. @throws {ApiError} 400 VALIDATION_ERROR */
export function calendarSpan(from: string | undefined, to: string | undefined) {
  const span = { from: calendarDay(from, "from"), to: calendarDay(to, "to") };
  if (span.from !== undefined && span.to !== undefined && span.from > span.to) {
    throw invalidField("from", from, "The span ends before it begins.", `Write a day no later than ${to}.`);
  }
  return span;
}

/** Whether Node.js knows a time zone. The database knows a few more, such as `Factory`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Checks that a name is that of a time zone. @throws {ApiError} 400 VALIDATION_ERROR */
export function knownTimeZone(timeZone: string): string {
  if (isTimeZone(timeZone)) return timeZone;
  const fix = "Write a name of the IANA time zone database, for example Europe/Berlin or UTC.";
  throw invalidField("timeZone", timeZone, "`timeZone` is not one that this service knows.", fix);
}
