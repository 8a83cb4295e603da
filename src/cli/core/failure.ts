import { inspect } from "node:util";

import { type LocalCode, UserError } from "./errors.js";
import type { Out } from "../output/out.js";
import { printable } from "../output/text.js";

/**
 * Tells why a run failed: with `--json` as the API's error envelope on standard output, otherwise, and where half a document stands there,
 * in one line on standard error, below its diagnostics where there are any.
 *
 * @returns the exit code.
 */
export async function reportFailure(out: Out, thrown: unknown, requestId: string, debug: boolean): Promise<number> {
  const error = thrown instanceof UserError ? thrown : internal(thrown);
  if (debug) out.note(inspect(thrown));
  if (out.json && !out.isBegun) out.print(JSON.stringify({ error: envelope(error, requestId) }));
  else out.note(await inWords(out, error));
  return error.exitCode;
}

function internal(thrown: unknown): UserError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new UserError(
    "INTERNAL_ERROR" satisfies LocalCode,
    `something failed inside svc: ${message}`,
    "this is a fault in svc: run `svc --debug …` and report what it prints",
  );
}

function envelope({ code, message, fix, details }: UserError, requestId: string): object {
  return { code, message, requestId, ...(fix === undefined ? {} : { fix }), ...details };
}

async function inWords({ errorStyle }: Out, { code, message, fix, details }: UserError): Promise<string> {
  const { diagnostics = [], field, reason, requestId } = details;
  const said = [message, reason, fix].filter((part) => part !== undefined).map(sentence);
  if (field !== undefined) said.push(`Field: ${printable(field)}.`);
  // What the service could not do is found in its log by this.
  if (code === "INTERNAL_ERROR" && requestId !== undefined) said.push(`Request: ${printable(requestId)}.`);
  const line = `${errorStyle.red("error")} ${errorStyle.dim(`[${printable(code)}]`)}: ${said.join(" ")}`;
  // A single diagnostic only says the message again.
  const repeated = diagnostics.length === 1 && (diagnostics[0] as { message?: string }).message === message;
  if (diagnostics.length === 0 || repeated) return line;
  // Not above: what measures their texts takes long to load, and every command loads this file.
  const { showDiagnostics } = await import("../output/diagnostics.js");
  return `${showDiagnostics(diagnostics, errorStyle)}\n${line}`;
}

/** A text as a sentence of its own, whether or not it came as one. */
function sentence(text: string): string {
  // A name such as `svc.config.ts` or an address keeps its first letter.
  const shown = printable(text.trim()).replace(/^[a-z](?=[a-z]*(?:[ ,]|:(?!\/)))/, (letter) => letter.toUpperCase());
  return /[.?!…]$/.test(shown) ? shown : `${shown}.`;
}
