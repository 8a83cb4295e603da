import type { Context } from "koa";
import Type from "typebox";
import { isDuration, isIsoDate, parseDuration } from "../../model/snapshot/duration.js";
import type { Duration } from "../../model/snapshot/types.js";
import { ApiError } from "../errors.js";

/** The longest hold an event name and a path of 256 characters each, which were escaped as JSON. */
const CURSOR_LENGTH_MAX = 8192;

const environment = Type.Enum(["test", "live"], { default: "test" });
/** What the database cannot keep in a text. */
const storable = { pattern: "^(?=.*\\S)[^\\u0000]*$", description: "must not be blank or hold the character U+0000" };
const cursor = Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_LENGTH_MAX, ...storable }));
const limit = Type.Integer({ minimum: 1, maximum: 200, default: 50 });

/** A query without parameters, or a body without members: there is nothing to say but that it be done. */
export const emptyObject = Type.Object({}, { additionalProperties: false });

/** `?env=`, test unless given. */
export const environmentQuery = Type.Object({ env: environment }, { additionalProperties: false });

/** `?limit=&cursor=`, for lists that concern no environment. */
export const pageQuery = Type.Object({ limit, cursor }, { additionalProperties: false });

/** `?env=&limit=&cursor=`, for lists. */
export const listQuery = Type.Object({ env: environment, limit, cursor }, { additionalProperties: false });

/** A name or an id of the caller's system. */
export const nameText = Type.String({ minLength: 1, maxLength: 256, ...storable });

/** A filter by a name or an id. */
export const nameFilter = Type.Optional(nameText);

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** A name that people choose and see: no control character, line break or change of direction, which could forge what stands around it. */
export const displayName = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: "^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$",
  description: "must not be blank or hold control characters, line breaks or marks that change the direction of text",
});

/** A duration of a query, such as 7d, in seconds. Throws VALIDATION_ERROR. */
export function secondsOf(duration: string, field: string): number {
  if (isDuration(duration)) return parseDuration(duration) / 1000;
  throw new ApiError(400, "VALIDATION_ERROR", {
    message: `\`${field}\` is not a duration.`,
    field,
    value: duration,
    fix: "Write a whole number and a unit, for example 12h, 7d or 4w.",
  });
}

/** How long what is replaced stays good, in seconds: 0 to `longest`; `at0` says what 0m does. Throws VALIDATION_ERROR. */
export function graceOf(grace: string, longest: Duration, at0: string): number {
  const seconds = /^0[mhdw]$/.test(grace) ? 0 : secondsOf(grace, "grace");
  if (seconds <= parseDuration(longest) / 1000) return seconds;
  throw new ApiError(400, "VALIDATION_ERROR", {
    message: "`grace` is too long.",
    field: "grace",
    value: grace,
    fix: `Write ${longest} or less; ${at0}`,
  });
}

/** The instant that a query names by a date (00:00 UTC), a date-time with timezone, or how long ago it was. Throws VALIDATION_ERROR. */
export function sinceOf(since: string, field: string): Date {
  if (isDuration(since)) return new Date(Date.now() - parseDuration(since));
  const date = isIsoDate(since) ? new Date(since) : null;
  // Four digits of year, in UTC too, are what the database takes.
  if (date && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999) return date;
  throw new ApiError(400, "VALIDATION_ERROR", {
    message: `\`${field}\` is neither a duration nor a date.`,
    field,
    value: since,
    fix: "Write for example 7d, 2026-03-01 or 2026-03-01T09:00:00Z.",
  });
}

/** As `sinceOf`, of a filter that may be missing. */
export function sinceFilter(since: string | undefined): Date | undefined {
  return since === undefined ? undefined : sinceOf(since, "since");
}

/** The members of a query as text, in the order in which they came. Throws VALIDATION_ERROR for one that is there twice or is no text. */
export function readQueryText(ctx: Context): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const piece of ctx.querystring.split("&")) {
    if (piece === "") continue;
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(piece.replaceAll("+", " ")) ?? [];
    const name = decode(rawName, rawName);
    if (members.has(name)) {
      throw new ApiError(400, "VALIDATION_ERROR", { message: `\`${name}\` is given more than once.`, field: name });
    }
    members.set(name, decode(rawValue, name));
  }
  return members;
}

/** The parameters of a request's path, which a route of this `path` takes. Throws VALIDATION_ERROR for one that is no text. */
export function readPathText(ctx: Context, path: string): Readonly<Record<string, string>> {
  const raw = ctx.path.split("/");
  const parameters = path.split("/").flatMap((part, index) => {
    if (!part.startsWith(":")) return [];
    const name = part.slice(1);
    return [[name, decode(raw[index] ?? "", name)] as const];
  });
  return Object.fromEntries(parameters);
}

function decode(raw: string, field: string): string {
  const text = decodeOrNull(raw);
  if (text === null) throw notText(field, "It is not UTF-8 in percent-encoding.");
  if (text.includes("\0")) throw notText(field, "The character U+0000 cannot be stored in text.");
  return text;
}

function decodeOrNull(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

function notText(name: string, reason: string): ApiError {
  const field = decodeOrNull(name)?.replaceAll("\0", "\\u0000") ?? name;
  return new ApiError(400, "VALIDATION_ERROR", { message: `\`${field}\` is not valid text.`, field, reason });
}
