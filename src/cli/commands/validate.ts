import { stateBudget } from "../../engine/index.js";
import { bytesInWords } from "../../snapshot/bytes-in-words.js";
import { defineCommand } from "../command.js";
import { compile, warningsBlock } from "../compile.js";
import { countDiagnostics, showDiagnostics } from "../diagnostics.js";
import { summary } from "../summary.js";

export default defineCommand({
  options: { strict: { type: "flag", describe: "Treat warnings as errors" } },
  examples: [["svc validate --strict", "Fail on warnings too, as in CI"]],
  async handler(context, { strict }) {
    const { out } = context;
    const { snapshot, hash, warnings } = await compile(context);
    const state = stateBudget(snapshot);
    if (strict && warnings.length > 0) throw warningsBlock(warnings, "correct them, or leave out --strict");
    out.result({ document: { valid: true, hash, stateBytes: state.bytes, diagnostics: warnings } }, () =>
      [
        ...(warnings.length > 0 ? [showDiagnostics(warnings, out.style), countDiagnostics(warnings)] : []),
        `The model is valid: ${summary(snapshot)}.`,
        `State of one customer: at most ${bytesInWords(state.bytes)}.`,
      ].join("\n"),
    );
  },
});
