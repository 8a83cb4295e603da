import type { Diagnostic } from "../../dsl-compiler/index.js";
import type { Context } from "./command.js";
import { countDiagnostics, showDiagnostics } from "../output/diagnostics.js";
import { cancellable } from "../output/interruption.js";
import { type ErrorDetails, failure, type UserError } from "./errors.js";
import { printable } from "../../words/text.js";

/**
 * Compiles the project in the chosen directory, or in `directory`, and checks its types; the signal aborts both. @throws {UserError}
 * CONFIG_INVALID with all problems
 */
export async function compile(context: Context, signal?: AbortSignal, directory = context.settings.directory) {
  // The compiler loads esbuild and more: commands that do not compile must not wait for it.
  const { compileProject } = await import("../../dsl-compiler/index.js");
  const options = { types: true, onOutput: printer(context), ...(signal && { signal }) };
  const result = await compileProject(directory, options);
  signal?.throwIfAborted();
  if (result.ok) return result;
  throw invalidModel(result.diagnostics);
}

/** The same, until Ctrl+C; warnings are printed as notes and are no failure. */
export async function compileWithNotes(context: Context, directory?: string) {
  const result = await cancellable((stop) => compile(context, stop, directory));
  const { out } = context;
  if (result.warnings.length > 0) out.note(showDiagnostics(result.warnings, out.errorStyle));
  return result;
}

/** The failure for a model with errors. @param details further members of the error document */
export function invalidModel(problems: readonly Diagnostic[], details: ErrorDetails = {}): UserError {
  const fixable = problems.filter(({ edits }) => edits !== undefined).length;
  const fix =
    fixable === 0 ? undefined : `run svc validate --fix, which corrects ${fixable === 1 ? "one" : fixable} of them`;
  return failure("CONFIG_INVALID", `the model has ${countDiagnostics(problems)}`, fix, undefined, {
    problems,
    ...details,
  });
}

/** Prints the output of the model's modules as notes, with terminal control characters escaped. */
export function printer({ out }: Context): (text: string) => void {
  return (text) => out.note(printedByModel(text));
}

/**
 * The failure for a model whose warnings count as errors. @param stranded the service's warnings of data that the model would strand @param
 * fixed what was already corrected
 */
export function warningsFailure(
  warnings: readonly Diagnostic[],
  fix: string,
  stranded: readonly { severity?: string }[] = [],
  fixed?: readonly unknown[],
): UserError {
  const own = `the model has ${countDiagnostics(warnings)}`;
  const message = stranded.length === 0 ? own : `${own}, and would strand data: ${countDiagnostics(stranded)}`;
  return failure("CONFIG_WARNINGS", message, fix, undefined, {
    warnings: [...warnings, ...stranded],
    ...(fixed && { fixed }),
  });
}

/** The last lines are the ones being debugged; a terminal needs no more. */
const LINES_SHOWN = 100;

function printedByModel(text: string): string {
  const lines = text.trimEnd().split("\n");
  const omitted = lines.length - LINES_SHOWN;
  const shown = lines.slice(-LINES_SHOWN).map(printable);
  return [...(omitted > 0 ? ["(earlier output of the model is left out)"] : []), ...shown].join("\n");
}
