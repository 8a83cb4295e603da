import type { Diagnostic } from "../../dsl-compiler/index.js";
import type { Context } from "./command.js";
import { countDiagnostics, showDiagnostics } from "../output/diagnostics.js";
import { cancellable } from "../output/interruption.js";
import { type ErrorDetails, failure, type UserError } from "./errors.js";
import { printable } from "../../words/text.js";

/** Compiles a project, that in the chosen directory unless another one is given, and checks its types; the signal ends both. @throws {UserError} CONFIG_INVALID with all problems */
export async function compile(context: Context, signal?: AbortSignal, directory = context.settings.directory) {
  // The compiler brings esbuild and more: commands that do not compile must not wait for it.
  const { compileProject } = await import("../../dsl-compiler/index.js");
  const options = { types: true, onOutput: printer(context), ...(signal && { signal }) };
  const result = await compileProject(directory, options);
  signal?.throwIfAborted();
  if (result.ok) return result;
  throw invalid(result.diagnostics);
}

/** The same, until Ctrl+C; warnings are noted and hinder nothing. */
export async function compileNoted(context: Context, directory?: string) {
  const result = await cancellable((stop) => compile(context, stop, directory));
  const { out } = context;
  if (result.warnings.length > 0) out.note(showDiagnostics(result.warnings, out.errorStyle));
  return result;
}

/** The failure of a model with errors. @param details what else is told in its document */
export function invalid(problems: readonly Diagnostic[], details: ErrorDetails = {}): UserError {
  const certain = problems.filter(({ edits }) => edits !== undefined).length;
  const fix =
    certain === 0 ? undefined : `run svc validate --fix, which corrects ${certain === 1 ? "one" : certain} of them`;
  return failure("CONFIG_INVALID", `the model has ${countDiagnostics(problems)}`, fix, undefined, {
    problems,
    ...details,
  });
}

/** What the modules print, with what would rewrite the terminal made harmless. */
export function printer({ out }: Context): (text: string) => void {
  return (text) => out.note(printedByModel(text));
}

/** The failure of a model whose warnings count. @param stranded what the service warns of besides: data that the model would strand @param fixed what was corrected before */
export function warningsBlock(
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

/** The last lines are what is being debugged; a terminal needs no more. */
const LINES_SHOWN = 100;

function printedByModel(text: string): string {
  const lines = text.trimEnd().split("\n");
  const left = lines.length - LINES_SHOWN;
  const shown = lines.slice(-LINES_SHOWN).map(printable);
  return [...(left > 0 ? ["(earlier output of the model is left out)"] : []), ...shown].join("\n");
}
