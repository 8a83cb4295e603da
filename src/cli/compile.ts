import type { Diagnostic } from "../dsl-compiler/index.js";
import type { Snapshot } from "../snapshot/types.js";
import type { Context } from "./context.js";
import { UserError } from "./errors.js";
import type { LocalCode } from "./errors.js";
import { plural } from "./text.js";

export interface CompiledProject {
  snapshot: Snapshot;
  hash: string;
  warnings: Diagnostic[];
}

/**
 * Compiles the project in the directory that was chosen.
 *
 * @throws {UserError} CONFIG_INVALID with all diagnostics.
 */
export async function compile({ settings, out }: Context): Promise<CompiledProject> {
  // The compiler brings esbuild and more: commands that do not compile must not wait for it.
  const { compileProject } = await import("../dsl-compiler/index.js");
  const result = await compileProject(settings.directory, { onOutput: (text) => out.note(text.trimEnd()) });
  if (result.ok) return result;
  throw new UserError(
    "CONFIG_INVALID" satisfies LocalCode,
    `the model has ${plural(result.diagnostics.filter(({ severity }) => severity === "error").length, "error")}`,
    undefined,
    { diagnostics: result.diagnostics },
  );
}

/** The failure of a model whose warnings count. */
export function warningsBlock(warnings: readonly Diagnostic[], fix: string): UserError {
  return new UserError(
    "CONFIG_WARNINGS" satisfies LocalCode,
    `the model has ${plural(warnings.length, "warning")}`,
    fix,
    { diagnostics: warnings },
  );
}
