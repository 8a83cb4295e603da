import type { Context } from "koa";
import { ApiError } from "../http/errors.js";

const LIMIT = 50;
const LIMIT_MAX = 200;

/** A page of a list, as the service's lists answer. */
export interface LocalPage<T> {
  data: T[];
  nextCursor: string | null;
}

/**
 * The page that `?limit=&cursor=` ask for.
 *
 * @param keys of the list's items, ascending, each of them once
 * @throws {ApiError} VALIDATION_ERROR
 */
export function page<T>(ctx: Context, keys: readonly string[], item: (key: string) => T): LocalPage<T> {
  const { limit, cursor, ...others } = ctx.query;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(unknown, "is not known here", "Remove it. Known are limit and cursor.");
  const size = limit === undefined ? LIMIT : Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > LIMIT_MAX) {
    throw invalid("limit", `must be a whole number from 1 to ${LIMIT_MAX}`, "Correct it, or leave it out.");
  }
  const after = cursor === undefined ? null : decode(cursor);
  const rest = after === null ? keys : keys.filter((key) => key > after);
  const shown = rest.slice(0, size);
  return { data: shown.map(item), nextCursor: rest.length > size ? encode(shown.at(-1)!) : null };
}

function encode(key: string): string {
  return Buffer.from(key, "utf8").toString("base64url");
}

function decode(cursor: string | string[]): string {
  const key = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("utf8") : "";
  if (key !== "" && encode(key) === cursor) return key;
  throw invalid(
    "cursor",
    "is not one of this list",
    "Send a nextCursor as it came, or leave it out for the first page.",
  );
}

function invalid(field: string, says: string, fix: string): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", {
    message: `\`${field.slice(0, 100)}\` ${says}.`,
    field: field.slice(0, 100),
    fix,
  });
}
