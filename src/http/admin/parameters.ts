import Type from "typebox";
import { parseDuration } from "../../model/snapshot/duration.js";
import type { Duration } from "../../model/snapshot/types.js";
import { invalidField } from "../errors.js";
import { instantOf, secondsOf } from "../request/instants.js";
import { exact } from "./schemas.js";

/** The longest cursors contain an event name and a path of 256 characters each, escaped as JSON. */
const CURSOR_LENGTH_MAX = 8192;

const environment = Type.Enum(["test", "live"], { default: "test" });
/** Text that the database can store. */
const storable = { pattern: "^[^\\u0000]*$", description: "must not contain the character U+0000" };
const cursor = Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_LENGTH_MAX, ...storable }));
const limit = Type.Integer({ minimum: 1, maximum: 200, default: 50 });

/** A query without parameters, or a body without members. */
export const emptyObject = exact({});

/** The name of a version in a request. */
export const requestedVersion = Type.String({
  pattern: "^v[1-9][0-9]{0,8}$",
  description: "must be a version such as v3",
});

/** `?env=`, test by default. */
export const environmentQuery = exact({ env: environment });

/** `?limit=&cursor=`, for lists that concern no environment. */
export const pageQuery = exact({ limit, cursor });

/** `?env=&limit=&cursor=`, for lists. */
export const listQuery = exact({ env: environment, limit, cursor });

/** The same for lists of large items, with a smaller default limit. */
export const shortListQuery = exact({ ...listQuery.properties, limit: Type.Integer({ ...limit, default: 20 }) });

/** `?superseded=true`, for records of customers that a recompute replaces. */
export const includeSuperseded = Type.Enum(["true", "false"], {
  default: "false",
  description: "Whether to include records that recomputes replaced, as long as they are kept.",
});

/** A name, or an id of the caller's system. */
export const nameText = Type.String({ minLength: 1, maxLength: 256, ...storable });

/** A filter by a name or an id. */
export const nameFilter = Type.Optional(nameText);
/** The type of emissions in a list. Webhooks take patterns of types; with one, a list would only be empty. */
export const eventTypeFilter = Type.Optional({
  ...nameText,
  pattern: "^[^*\\u0000]*$",
  description: "must be a whole type, without *",
});

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** A name that people choose and see: no control characters, line breaks or changes of direction, which could forge the text around it. */
export const displayName = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: "^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]*$",
  description:
    "must not be blank or contain control characters, line breaks or marks that change the direction of text",
});

/** Excludes characters that separate, quote or comment addresses in a mail header, and invisible ones. */
const ADDRESS_PART =
  '[^\\s@"(),:;<>\\[\\]\\\\\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]+';

const ADDRESS = { minLength: 3, maxLength: 254, pattern: `^${ADDRESS_PART}@${ADDRESS_PART}$` };

/** A single e-mail address, without a display name. */
export const emailAddress = Type.String({
  ...ADDRESS,
  description: "must be one e-mail address, for example ada@example.com",
});

/** Whether a text is a valid `emailAddress`. */
export function isEmailAddress(text: string): boolean {
  const { minLength, maxLength, pattern } = ADDRESS;
  return text.length >= minLength && text.length <= maxLength && new RegExp(pattern, "u").test(text);
}

/** How long a replaced secret or key stays valid, in seconds: 0 to `longest`; `at0` says what 0m does. Throws VALIDATION_ERROR. */
export function graceSeconds(grace: string, longest: Duration, at0: string): number {
  const seconds = /^0[mhdw]$/.test(grace) ? 0 : secondsOf(grace, "grace");
  if (seconds <= parseDuration(longest) / 1000) return seconds;
  throw invalidField("grace", grace, "`grace` is too long.", `Write ${longest} or less; ${at0}`);
}

/** As `instantOf`, for an optional filter. */
export function sinceFilter(since: string | undefined): Date | undefined {
  return since === undefined ? undefined : instantOf(since, "since");
}
