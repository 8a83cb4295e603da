import { partNames } from "../../console/model.js";
import type { QuestionParams } from "../../console/source.js";
import type { ListPage } from "../../http/admin/answers.js";
import { type ApiError, invalidField } from "../../http/errors.js";
import { list } from "../../model/snapshot/problem.js";
import type { LocalEngine } from "../engine.js";

/**
 * Refuses a filter by a name that the model does not have. Like the service, callers check this only if nothing passes the filter.
 *
 * @param kinds the kind of name in each field of the query
 * @throws {ApiError} 400 VALIDATION_ERROR
 */
export function requireKnown(
  { snapshot }: LocalEngine,
  of: QuestionParams,
  kinds: Record<string, "state" | "segment" | "band" | "signal" | "rule">,
): void {
  const known = partNames(snapshot);
  for (const [field, kind] of Object.entries(kinds)) {
    const [value, names] = [of[field], known[`${kind}s` as const]];
    if (value === undefined || names.includes(value)) continue;
    throw undeclared(field, value, `The model has no ${kind} of this name.`, names);
  }
}

/** The refusal of a filter by a name or value that the model does not declare. */
export function undeclared(field: string, value: string, message: string, known: readonly string[]): ApiError {
  return invalidField(field, value, message, known.length === 0 ? "Leave it out." : `Use one of ${list(known)}.`);
}

/** Compares texts, for sorting. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Compares lists of texts by the first place at which they differ, for sorting. */
export function compareKeys(a: readonly string[], b: readonly string[]): number {
  const place = a.findIndex((text, index) => text !== b[index]);
  return place === -1 ? 0 : compareTexts(a[place]!, b[place]!);
}

/** A page of a list; the cursor is the number of items before it. */
export function pageOf<Item>(items: readonly Item[], { limit = "50", cursor = "0" }: QuestionParams): ListPage<Item> {
  const [from, size] = [Number(cursor), Number(limit)];
  if (!/^\d{1,9}$/.test(cursor) || from > items.length) {
    throw invalidField("cursor", cursor, "The cursor is not one of this list.", "Begin with the first page.");
  }
  const end = from + size;
  return { data: items.slice(from, end), nextCursor: end < items.length ? String(end) : null };
}
