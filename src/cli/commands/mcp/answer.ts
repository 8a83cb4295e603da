import type { CallToolResult } from "@modelcontextprotocol/server";

import { failure, type LocalCode, UserError } from "../../core/errors.js";
import { type AnyDiagnostic, placeOf } from "../../output/diagnostics.js";
import type { Out } from "../../output/out.js";
import { sentence } from "../../../words/text.js";
import type { Call } from "./session.js";

/** Assistants accept answers of some ten thousand words. */
export const ANSWER_BYTES_MAX = 100 * 1024;

/** A tool's result, as structured content and as its JSON text. @param less how to ask for less @throws {UserError} ANSWER_TOO_LARGE */
export function succeeded(found: object, less: string): CallToolResult {
  const text = JSON.stringify(found);
  const bytes = Buffer.byteLength(text);
  if (bytes > ANSWER_BYTES_MAX) {
    const message = `the answer has ${bytes} bytes; at most ${ANSWER_BYTES_MAX} are sent to an assistant`;
    throw failure("ANSWER_TOO_LARGE", message, less);
  }
  return { content: [{ type: "text", text }], structuredContent: found };
}

/** Fixes of refusals in terms of the tools; for all others the CLI's advice applies. */
const FIXES: Readonly<Record<string, string>> = {
  CUSTOMER_NOT_FOUND:
    "check the id: list_customers has all of this environment; a pseudonym is only valid while this server runs, so list them again",
  JOURNEY_NOT_FOUND: "check its id: show_version has all journeys",
  SEGMENT_NOT_FOUND: "check its name: overview has all segments",
  WEBHOOK_NOT_FOUND: "check its id: list_webhooks has all of this environment",
  DELIVERY_NOT_FOUND: "check its id: list_deliveries has those of a webhook",
  VERSION_NOT_FOUND: "check its name: list_versions has all",
};

const fixOf = (error: UserError): string | undefined =>
  isTooEarly(error) ? "use a later instant" : (FIXES[error.code] ?? error.fix);

const PROBLEMS_MAX = 20;

/** Why a tool failed: what is wrong, where, and what to do. Internal errors are also logged with their stack. */
export function failed({ context: { out }, pseudonym }: Call, thrown: unknown): CallToolResult {
  const error = concealed(thrown instanceof UserError ? thrown : internal(out, thrown), pseudonym);
  const { code, message, details } = error;
  const { reason, field, problems = [], warnings = [], diagnostics = [] } = details;
  const place = field === undefined ? undefined : `the argument is ${field}`;
  const sentences = [message, reason, place, fixOf(error)].filter((part) => part !== undefined);
  const listed = ([...problems, ...warnings, ...diagnostics] as AnyDiagnostic[]).map(problemOf);
  // A single problem may only repeat the message.
  const shown = listed.length === 1 && listed[0]!.message === message ? [] : listed;
  const lines = shown.slice(0, PROBLEMS_MAX).map((one) => `- ${JSON.stringify(one)}`);
  const more = shown.length > PROBLEMS_MAX ? [`- and ${shown.length - PROBLEMS_MAX} more`] : [];
  const text = [`${code}: ${sentences.map(sentence).join(" ")}`, ...lines, ...more].join("\n");
  return { content: [{ type: "text", text }], isError: true };
}

/** Failures must not reveal the customer behind a pseudonym either. */
function concealed(error: UserError, pseudonym: string | undefined): UserError {
  if (error.code !== "CUSTOMER_NOT_FOUND" || pseudonym === undefined) return error;
  if (isTooEarly(error))
    return new UserError(error.code, `the customer ${pseudonym} did not exist then`, undefined, error.details);
  return new UserError(error.code, `there is no customer ${pseudonym} any more`);
}

/** Whether the customer exists, but not at the instant that was asked for. */
const isTooEarly = ({ code, details }: UserError): boolean => code === "CUSTOMER_NOT_FOUND" && details.field === "at";

function internal(out: Out, thrown: unknown): UserError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  out.note(error.stack ?? error.message);
  const code: LocalCode = "INTERNAL_ERROR";
  return failure(code, `something failed inside svc: ${error.message}`, "this is a fault in svc; its log has details");
}

/** A diagnostic of a model with its place, without the source lines. */
export function problemOf(found: AnyDiagnostic) {
  const { severity = "error", code = "", message = "", fix } = found;
  const place = placeOf(found);
  return {
    severity,
    code,
    message,
    ...(place === undefined ? {} : { at: place }),
    ...(fix === undefined ? {} : { fix }),
  };
}
