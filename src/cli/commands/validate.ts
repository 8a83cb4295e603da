import path from "node:path";

import type { Diagnostic } from "../../dsl-compiler/index.js";
import { stateBudget } from "../../engine/index.js";
import { type Context, defineCommand } from "../core/command.js";
import { compile, invalid, printer, warningsBlock } from "../core/compile.js";
import { UserError } from "../core/errors.js";
import { countDiagnostics, placeOf, showDiagnostics } from "../output/diagnostics.js";
import { replaceUnchanged } from "../output/write-file.js";
import { printable, stateSize, summary } from "../../words/text.js";

export default defineCommand({
  options: {
    strict: { type: "flag", describe: "Treat warnings as errors" },
    fix: { type: "flag", describe: "Correct what is certain in the files of the model, and say what" },
  },
  examples: [
    ["svc validate --strict", "Fail on warnings too, as in CI"],
    ["svc validate --fix", "Add missing imports, and write the methods that operators stand for"],
  ],
  async handler(context, { strict, fix }) {
    const { out } = context;
    const { snapshot, hash, warnings, fixed } = fix
      ? await compileFixing(context)
      : { ...(await compile(context)), fixed: undefined };
    const { bytes } = stateBudget(snapshot);
    if (strict && warnings.length > 0) throw warningsBlock(warnings, "correct them, or leave out --strict", [], fixed);
    const document = { valid: true, hash, stateBytes: bytes, warnings, ...(fixed && { fixed }) };
    out.result({ document }, () =>
      [
        ...(warnings.length > 0 ? [showDiagnostics(warnings, out.style), countDiagnostics(warnings)] : []),
        `The model is valid: ${summary(snapshot)}.`,
        stateSize(bytes),
      ].join("\n"),
    );
  },
});

/** One mistake shows the next: an import that is added lets types be checked that could not be before. */
const ROUNDS = 10;

/** What was corrected: the mistake, at the place where it stood, and what was written. */
interface Fixed {
  file: string;
  line: number;
  column: number;
  code: string;
  message: string;
  fix: string;
}

/**
 * Compiles the project as `compile` does, and corrects what is certain in the author's files before it does so again, until nothing more is. A
 * file that changed since it was read is left as it is, and read anew.
 * @throws {UserError} CONFIG_INVALID with what is left, FILE_NOT_WRITTEN, CANCELLED; each with what was corrected
 */
async function compileFixing(context: Context) {
  const { compileProject } = await import("../../dsl-compiler/index.js");
  const { directory } = context.settings;
  const fixed: Fixed[] = [];
  for (let round = 0; ; round += 1) {
    const onOutput = round === 0 ? printer(context) : () => undefined;
    const result = await compileProject(directory, { types: true, onOutput });
    if (result.ok) return { ...result, fixed };
    const { diagnostics, correctedFiles = [] } = result;
    if (correctedFiles.length === 0 || round === ROUNDS) throw invalid(diagnostics, { fixed });
    for (const { file, before, after, corrected } of correctedFiles) {
      const isWritten = await replaceUnchanged(path.join(directory, file), before, after).catch((error: unknown) => {
        throw withFixed(error, fixed);
      });
      if (!isWritten) continue;
      const written = corrected.map(fixedOf);
      fixed.push(...written);
      if (context.out.json) continue;
      for (const one of written) context.out.note(`fixed ${placeOf(one)} ${printable(`${one.message}: ${one.fix}`)}`);
    }
  }
}

/** A failure to write a file, with what was written before it, which stays. */
function withFixed(error: unknown, fixed: readonly Fixed[]): unknown {
  if (!(error instanceof UserError) || fixed.length === 0) return error;
  const { code, message, fix, details } = error;
  const told = code === "CANCELLED" ? "cancelled; what was corrected before stays" : message;
  return new UserError(code, told, fix, { ...details, fixed }, error);
}

function fixedOf({ file = "", line = 1, column = 1, code, message, fix = "" }: Diagnostic): Fixed {
  return { file, line, column, code, message, fix };
}
