import { stateBudget } from "../../engine/index.js";
import { defineCommand } from "../core/command.js";
import { compile, warningsBlock } from "../core/compile.js";
import { compileFixing } from "../core/fix.js";
import { countDiagnostics, showDiagnostics } from "../output/diagnostics.js";
import { stateSize, summary } from "../../words/text.js";

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
