import type { Diagnostic } from "../../dsl-compiler/index.js";
import type { Context } from "./command.js";
import { countDiagnostics } from "../output/diagnostics.js";
import { failure, type UserError } from "./errors.js";
import { printable } from "../../words/text.js";

/** Compiles the project in the chosen directory and checks its types; the signal ends both. @throws {UserError} CONFIG_INVALID with all problems */
export async function compile({ settings, out }: Context, signal?: AbortSignal) {
  // The compiler brings esbuild and more: commands that do not compile must not wait for it.
  const { compileProject } = await import("../../dsl-compiler/index.js");
  const onOutput = (text: string) => out.note(printedByModel(text));
  const result = await compileProject(settings.directory, { types: true, onOutput, ...(signal && { signal }) });
  signal?.throwIfAborted();
  if (result.ok) return result;
  const { diagnostics } = result;
  throw failure("CONFIG_INVALID", `the model has ${countDiagnostics(diagnostics)}`, undefined, undefined, {
    problems: diagnostics,
  });
}

/** The failure of a model whose warnings count. @param stranded what the service warns of besides: data that the model would strand */
export function warningsBlock(
  warnings: readonly Diagnostic[],
  fix: string,
  stranded: readonly { severity?: string }[] = [],
): UserError {
  const own = `the model has ${countDiagnostics(warnings)}`;
  const message = stranded.length === 0 ? own : `${own}, and would strand data: ${countDiagnostics(stranded)}`;
  return failure("CONFIG_WARNINGS", message, fix, undefined, { warnings: [...warnings, ...stranded] });
}

/** The last lines are what is being debugged; a terminal needs no more. */
const LINES_SHOWN = 100;

function printedByModel(text: string): string {
  const lines = text.trimEnd().split("\n");
  const left = lines.length - LINES_SHOWN;
  const shown = lines.slice(-LINES_SHOWN).map(printable);
  return [...(left > 0 ? ["(earlier output of the model is left out)"] : []), ...shown].join("\n");
}
