import path from "node:path";

import type { Diagnostic } from "../../dsl-compiler/index.js";
import { stateBudget } from "../../engine/index.js";
import { type Context, defineCommand } from "../core/command.js";
import { compile, invalidModel, printer, warningsFailure } from "../core/compile.js";
import { UserError } from "../core/errors.js";
import { countDiagnostics, placeOf, showDiagnostics } from "../output/diagnostics.js";
import { replaceUnchanged } from "../output/write-file.js";
import { printable, stateSize, summary } from "../../words/text.js";

export default defineCommand({
  options: {
    strict: { type: "flag", describe: "Treat warnings as errors" },
    fix: { type: "flag", describe: "Make the unambiguous corrections in the model's files, and report them" },
  },
  examples: [
    ["svc validate --strict", "Fail on warnings too, as in CI"],
    ["svc validate --fix", "Add missing imports, and replace operators by the methods they stand for"],
  ],
  async handler(context, { strict, fix }) {
    const { out } = context;
    const { snapshot, hash, warnings, fixed } = fix
      ? await compileFixing(context)
      : { ...(await compile(context)), fixed: undefined };
    const { bytes } = stateBudget(snapshot);
    if (strict && warnings.length > 0)
      throw warningsFailure(warnings, "correct them, or leave out --strict", [], fixed);
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

/** One correction can reveal the next mistake: an added import allows types to be checked that could not be before. */
const ROUNDS = 10;

/** A correction: the mistake, its place before the correction, and the fix. */
type Fixed = Required<Pick<Diagnostic, "file" | "line" | "column" | "code" | "message" | "fix">>;

/**
 * Compiles the project as `compile` does, makes unambiguous corrections in the author's files, and repeats until there are no more. A file that
 * changed since it was read is not overwritten, but read again.
 * @throws {UserError} CONFIG_INVALID with the remaining problems, FILE_NOT_WRITTEN, CANCELLED; each with what was corrected
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
    if (correctedFiles.length === 0 || round === ROUNDS) throw invalidModel(diagnostics, { fixed });
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

/** A failure to write a file, with the corrections made before it, which stay. */
function withFixed(error: unknown, fixed: readonly Fixed[]): unknown {
  if (!(error instanceof UserError) || fixed.length === 0) return error;
  const { code, message, fix, details } = error;
  const reason = code === "CANCELLED" ? "cancelled; corrections already made stay" : message;
  return new UserError(code, reason, fix, { ...details, fixed }, error);
}

function fixedOf({ file = "", line = 1, column = 1, code, message, fix = "" }: Diagnostic): Fixed {
  return { file, line, column, code, message, fix };
}
