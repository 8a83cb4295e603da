import type { Of } from "../../console/source.js";
import type { ListPage } from "../../http/admin/answers.js";
import { invalidField } from "../../http/errors.js";
import { parseTimestamp, timestampProblem } from "../../ingestion/timestamp.js";
import { isDuration, isIsoDate, parseDuration } from "../../model/snapshot/duration.js";
import { list } from "../../model/snapshot/problem.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import type { LocalEngine } from "../engine.js";
import type { Population } from "../population.js";

/** Customers at an instant: the present one, or one that has passed. */
export interface Stand {
  engine: LocalEngine;
  population: Population;
  now: number;
}

export const isoTime = (instant: number) => new Date(instant).toISOString();

/** The instant that a query names by a date, a date-time or how long ago it was, as the service reads it. Throws VALIDATION_ERROR. */
export function queryInstant(text: string, field: string, now: number): number {
  if (isDuration(text)) return now - parseDuration(text);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const instant = isDay ? Date.parse(text) : timestampProblem(text) === null ? parseTimestamp(text).milliseconds : NaN;
  if (!Number.isNaN(instant)) return instant;
  const fix = "Write for example 7d, 2026-03-01 or 2026-03-01T09:00:00Z.";
  throw invalidField(field, text, `\`${field}\` is neither a duration nor a date.`, fix);
}

/** The names that a model has of each kind. */
const NAMES = {
  state: ({ lifecycle }: Snapshot) => lifecycle?.states.map(({ name }) => name) ?? [],
  segment: ({ segments }: Snapshot) => segments.map(({ id }) => id),
  band: ({ health }: Snapshot) => health?.bands.map(({ id }) => id) ?? [],
  signal: ({ signals }: Snapshot) => signals.map(({ id }) => id),
  rule: ({ rules }: Snapshot) => rules.map(({ id }) => id),
};

/**
 * Refuses a filter by something that the model does not have, as the service does where nothing passes.
 *
 * @param kinds what fields of the query name
 * @throws {ApiError} 400 VALIDATION_ERROR
 */
export function requireKnown({ snapshot }: LocalEngine, of: Of, kinds: Record<string, keyof typeof NAMES>): void {
  for (const [field, kind] of Object.entries(kinds)) {
    const [value, names] = [of[field], NAMES[kind](snapshot)];
    if (value === undefined || names.includes(value)) continue;
    const fix = names.length === 0 ? "Leave it out." : `Use one of ${list(names)}.`;
    throw invalidField(field, value, `The model has no ${kind} of this name.`, fix);
  }
}

/** A part of a list that is there as a whole; its cursor is how many came before. */
export function pageOf<Item>(items: readonly Item[], { limit = "50", cursor = "0" }: Of): ListPage<Item> {
  const [from, size] = [Number(cursor), Number(limit)];
  if (!/^\d{1,9}$/.test(cursor) || from > items.length) {
    throw invalidField("cursor", cursor, "The cursor is not one of this list.", "Begin with the first page.");
  }
  const end = from + size;
  return { data: items.slice(from, end), nextCursor: end < items.length ? String(end) : null };
}

/** A day of a query, such as 2026-03-01. Throws VALIDATION_ERROR. */
export function calendarDay(of: Of, field: "from" | "to"): string | undefined {
  const day = of[field];
  if (day === undefined || (/^\d{4}-\d{2}-\d{2}$/.test(day) && isIsoDate(day))) return day;
  throw invalidField(field, day, `\`${field}\` is not a day.`, "Write for example 2026-03-01.");
}

/** As `queryInstant`, of one that has passed. */
export function pastInstant(text: string, field: string, now: number): number {
  const instant = queryInstant(text, field, now);
  if (instant <= now) return instant;
  throw invalidField(field, text, `\`${field}\` lies ahead.`, "Name an instant that has passed.");
}
