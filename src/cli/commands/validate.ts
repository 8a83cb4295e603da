import { stateBudget } from "../../engine/index.js";
import { defineCommand } from "../core/command.js";
import { compile, warningsBlock } from "../core/compile.js";
import { countDiagnostics, showDiagnostics } from "../output/diagnostics.js";
import { stateSize, summary } from "../../words/text.js";

export default defineCommand({
  options: { strict: { type: "flag", describe: "Treat warnings as errors" } },
  examples: [["svc validate --strict", "Fail on warnings too, as in CI"]],
  async handler(context, { strict }) {
    const { out } = context;
    const { snapshot, hash, warnings } = await compile(context);
    const { bytes } = stateBudget(snapshot);
    if (strict && warnings.length > 0) throw warningsBlock(warnings, "correct them, or leave out --strict");
    out.result({ document: { valid: true, hash, stateBytes: bytes, warnings } }, () =>
      [
        ...(warnings.length > 0 ? [showDiagnostics(warnings, out.style), countDiagnostics(warnings)] : []),
        `The model is valid: ${summary(snapshot)}.`,
        stateSize(bytes),
      ].join("\n"),
    );
  },
});
