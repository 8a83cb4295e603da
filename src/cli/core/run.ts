import { randomUUID } from "node:crypto";
import { inspect } from "node:util";

import { parseCommandLine } from "./adapter.js";
import { Api } from "../client/api.js";
import type { Context, Positionals, sharedOptions, Values } from "./command.js";
import { failure, UsageError, UserError } from "./errors.js";
import { type Io, Out } from "../output/out.js";
import { printable, sentence, shellWord } from "../../words/text.js";
import { commands, nouns } from "./registry.js";
import { SessionStore } from "../client/session.js";
import { Settings } from "./settings.js";
import { version } from "./package.js";

const HELP_COLUMNS_MAX = 120;
const HELP_COLUMNS = 100;

/** Runs one command line, given without the names of the program. @returns the exit code: 0 done, 1 failed, 2 the command line is wrong */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const requestId = `cli_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
  // Errors in a command line that cannot be parsed are printed in the form that it asks for.
  const end = argv.indexOf("--");
  const flags = new Set(end < 0 ? argv : argv.slice(0, end));
  let out = new Out(io, { json: flags.has("--json"), noColor: flags.has("--no-color") });
  let debug = flags.has("--debug");
  try {
    const width = Math.min(io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : HELP_COLUMNS, HELP_COLUMNS_MAX);
    const parsed = await parseCommandLine(argv, { width, version: version() });
    if (parsed.kind === "print") {
      out.print(parsed.text);
      return 0;
    }
    if (parsed.kind === "incomplete") {
      if (out.json) throw new UsageError("no command was given", "see `svc --help`");
      out.note(parsed.text);
      return 2;
    }
    const values = parsed.values as unknown as SharedValues;
    out = new Out(io, values);
    debug = values.debug;
    const disabledBy = whatDisablesAi(io, values);
    if (disabledBy !== null && values.facts === false) throw aiDisabled(disabledBy, argv);
    if (disabledBy !== null && parsed.command.isForAssistants) {
      const fix = "use the other commands, which send nothing to a language model";
      throw failure("AI_DISABLED", `commands that serve assistants are disabled by ${disabledBy}`, fix);
    }
    const given = await context(io, out, values, requestId);
    try {
      await parsed.command.handler(given, parsed.values as never);
    } catch (error) {
      throw await given.api.causeOf(error);
    }
    return 0;
  } catch (error) {
    return await reportFailure(out, error, requestId, debug);
  }
}

/** Values of the options that every command takes, and of two that some commands take. */
type SharedValues = Values<Positionals, typeof sharedOptions> & { project?: string; facts?: boolean };

async function context(io: Io, out: Out, values: SharedValues, requestId: string): Promise<Context> {
  const { directory, env: environment, project } = values;
  const settings = new Settings(io, new SessionStore(await io.configDirectory()), { directory, environment, project });
  return { io, out, settings, api: new Api(settings, requestId), registry: { commands, nouns } };
}

/** What disables AI commands: the option, or the variable set to anything but 0 or false; null where neither does. */
function whatDisablesAi(io: Io, { noAi }: SharedValues): string | null {
  if (noAi) return "--no-ai";
  return ["", "0", "false"].includes(io.env["SVC_NO_AI"] ?? "") ? null : "SVC_NO_AI";
}

/** The failure of a command that may ask a language model; its fix is the same command line with `--facts`, which asks none. */
function aiDisabled(disabledBy: string, argv: readonly string[]): UserError {
  const words = argv.filter((word) => !/^--no-?ai\b/i.test(word)).map(shellWord);
  const end = words.indexOf("--");
  words.splice(end < 0 ? words.length : end, 0, "--facts");
  const message = `commands that ask a language model are disabled by ${disabledBy}`;
  return failure("AI_DISABLED", message, `get the same facts without one: svc ${words.join(" ")}`);
}

/**
 * Reports why a run failed: with `--json` as the API's error envelope on standard output; otherwise, and where half a document was already
 * written there, in one line on standard error, below the diagnostics if there are any. @returns the exit code
 */
export async function reportFailure(out: Out, thrown: unknown, requestId: string, debug: boolean): Promise<number> {
  const error = thrown instanceof UserError ? thrown : internal(thrown);
  const { code, message, details } = error;
  const fix = error.fix === undefined ? undefined : out.typedIn(error.fix);
  if (debug) out.note(inspect(thrown));
  if (out.json && !out.isBegun) out.print(JSON.stringify({ error: { code, message, requestId, fix, ...details } }));
  else out.note(await inWords(out, error, fix));
  return error.exitCode;
}

function internal(thrown: unknown): UserError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const fix = "this is a fault in svc: run `svc --debug …` and report what it prints";
  return failure("INTERNAL_ERROR", `something failed inside svc: ${message}`, fix);
}

async function inWords(out: Out, { code, message, details }: UserError, fix: string | undefined): Promise<string> {
  const { errorStyle } = out;
  const { diagnostics = [], problems = [], warnings = [], field, reason, requestId } = details;
  const sentences = [message, reason].filter((part) => part !== undefined).map((part) => out.atIn(sentence(part)));
  if (fix !== undefined) sentences.push(sentence(fix));
  if (field !== undefined) sentences.push(`Field: ${printable(field)}.`);
  // The request's id finds an internal failure in the service's log.
  if (code === "INTERNAL_ERROR" && requestId !== undefined) sentences.push(`Request: ${printable(requestId)}.`);
  const line = `${errorStyle.red("error")} ${errorStyle.dim(`[${printable(code)}]`)}: ${sentences.join(" ")}`;
  const listed = [...diagnostics, ...problems, ...warnings];
  // A single diagnostic may only repeat the message.
  const repeated = listed.length === 1 && (listed[0] as { message?: string }).message === message;
  if (listed.length === 0 || repeated) return line;
  // Imported here: the module that measures text widths is slow to load, and every command loads this file.
  const { showDiagnostics } = await import("../output/diagnostics.js");
  return `${showDiagnostics(listed, errorStyle)}\n${line}`;
}
