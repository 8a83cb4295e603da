import type { Json } from "./types.js";

const DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;

/**
 * The instant of an ISO 8601 date (00:00 UTC) or of a date-time with zone, in milliseconds, floored; undefined for
 * everything else, such as a date-time without zone or a day that the calendar does not have.
 */
export function parseInstant(value: Json | undefined): number | undefined {
  if (typeof value !== "string") return undefined;
  const match = DATE.exec(value);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((i) => Number(match[i] ?? 0)) as Six;
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetHours = Number(match[9] ?? 0);
  const offsetMinutes = Number(match[10] ?? 0);
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  // Date.UTC would take the years 0 to 99 for those of the twentieth century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return undefined;
  date.setUTCHours(hour, minute, second, Number((match[7] ?? "").padEnd(3, "0").slice(0, 3)));
  const offset = (offsetHours * 60 + offsetMinutes) * 60_000;
  return date.getTime() + (match[8] === "-" ? offset : -offset);
}

type Six = [number, number, number, number, number, number];
