import type { Organization, Whoami } from "../../http/admin/answers.js";
import { mayHaveSucceeded } from "../client/failures.js";
import type { Context } from "../core/command.js";
import { failure, UserError } from "../core/errors.js";
import type { Environment, Settings } from "../core/settings.js";
import { printable } from "../../words/text.js";
import { confirmation, type ConfirmationOptions } from "./confirmation.js";
import { untilInterrupted } from "./interruption.js";
import type { Out } from "./out.js";

/** An organization, for the confirmation question. */
export function inOrganization({ apiUrl }: Settings, { slug }: Organization): string {
  return `organization ${printable(slug)} at ${apiUrl}`;
}

/** The organization that changes are made in, for the confirmation question. */
export async function organizationPlace({ api, settings }: Context): Promise<string> {
  const { data } = await api.get<Whoami>("/whoami", ["user", "organization"]);
  return inOrganization(settings, data.organization);
}

/** A change to make once the user confirms; `--yes` suffices even if a word is asked for. `Known` is the result of `before`. */
export interface ConfirmedChange<T, Known = void> extends Omit<ConfirmationOptions, "yesSuffices"> {
  /** The kind of its target: the environment of a project unless given. */
  of?: "organization";
  /** Reads something before the change, also with `--yes`. */
  before?: () => Promise<Known>;
  question: (place: string, known: Known) => string | Promise<string>;
  /** The command that shows whether the change was made, in backticks. */
  seen: string;
  request: (signal: AbortSignal, known: Known) => Promise<T>;
}

/** Asks whether to make a change, and makes it. Missing settings or credentials fail before the question. */
export async function confirmAndRun<T, Known = void>(
  context: Context,
  { of, before, question, seen, request, ...what }: ConfirmedChange<T, Known>,
): Promise<T> {
  const place = of === undefined ? context.settings.place : undefined;
  context.settings.credentials();
  const confirm = await confirmation(context, { ...what, ...(what.word !== undefined && { yesSuffices: true }) });
  const known = (await before?.()) as Known;
  if (!what.yes) await confirm(await question(place ?? (await organizationPlace(context)), known));
  return sendChange(seen, (signal) => request(signal, known));
}

/**
 * Sends a request that changes something. After Ctrl+C, a broken connection or the answer of a proxy, it is unknown whether the change was
 * made. @param seen the command that shows whether it was, in backticks @throws {UserError} OUTCOME_UNKNOWN
 */
export function sendChange<T>(seen: string, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = (error: unknown): never => {
    throw outcomeUnknown("stopped before the service answered", seen, error);
  };
  return untilInterrupted((signal) => sendUninterrupted(seen, () => request(signal)), stopped);
}

/** The same without Ctrl+C. @param seen the command or the tool that shows whether the change was made */
export async function sendUninterrupted<T>(seen: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw error instanceof UserError && mayHaveSucceeded(error) ? outcomeUnknown(error.message, seen, error) : error;
  }
}

/** The failure of a request whose outcome is unknown. */
function outcomeUnknown(why: string, seen: string, cause: unknown): UserError {
  const message = `${why}; it is not known whether this was carried out`;
  return failure("OUTCOME_UNKNOWN", message, `see for yourself: ${seen}`, cause);
}

/** Adds the fix to the refusal of a change because another version became active meanwhile. */
export function withRerunFix(error: unknown): unknown {
  if (!(error instanceof UserError) || error.code !== "VERSION_CONFLICT") return error;
  const { field: _field, value: _value, ...rest } = error.details;
  const fix = "run the command again: it compares with the version that is active now";
  return new UserError(error.code, error.message, fix, rest, error);
}

/** The note after another model became active in an environment with customers. */
export function recomputeHint(out: Out, environment: Environment): string {
  const recompute = out.typed(`svc recompute --all --env ${environment}`);
  return [
    "Customers keep their present state until something happens to them, or they are recomputed:",
    `  ${recompute} --dry-run   shows what that would change`,
    `  ${recompute}             does it`,
  ].join("\n");
}
