import type { Context } from "koa";
import { readText, type TextKind } from "./body.js";
import { ApiError } from "../errors.js";

const BYTES_MAX = 8 * 1024;
const FORM_TYPE = "application/x-www-form-urlencoded";

const FORM_TEXT: TextKind = {
  type: /^application\/x-www-form-urlencoded$/i,
  unsupported: () =>
    new ApiError(415, "UNSUPPORTED_MEDIA_TYPE", {
      message: `The body must be a form with the header Content-Type: ${FORM_TYPE}.`,
      fix: `Send the header Content-Type: ${FORM_TYPE}, and the body in UTF-8.`,
    }),
  malformed: invalid,
};

/** The fields of a form by name; undefined for fields that were not sent. */
export type Form<Name extends string> = Readonly<Record<Name, string | undefined>>;

/**
 * Reads a body of the type application/x-www-form-urlencoded, of at most 8 KiB.
 *
 * @param ignoreOthers ignores unknown fields, as OAuth requires, instead of refusing them
 * @throws {ApiError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, or VALIDATION_ERROR for a field that is repeated or unknown, and for bytes that
 *   are not UTF-8.
 * @throws {ClientGoneError}
 */
export async function readForm<const Name extends string>(ctx: Context, names: readonly Name[], ignoreOthers = false) {
  const text = await readText(ctx, FORM_TEXT, BYTES_MAX);
  requireUtf8(text);
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!(names as readonly string[]).includes(name)) {
      if (ignoreOthers) continue;
      throw invalid("It has an unknown field.");
    }
    if (values.has(name)) throw invalid("It has a field twice.", name);
    values.set(name, value);
  }
  return Object.fromEntries(names.map((name) => [name, values.get(name)])) as Form<Name>;
}

/** URLSearchParams would replace bytes that it cannot decode by U+FFFD, which would make different passwords equal. */
function requireUtf8(text: string): void {
  try {
    decodeURIComponent(text);
  } catch {
    throw invalid("Its fields are not percent-encoded UTF-8.");
  }
}

function invalid(reason: string, field?: string): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", {
    message: "The form is not valid.",
    reason,
    fix: "Send each field of the form once, in UTF-8.",
    field,
  });
}
