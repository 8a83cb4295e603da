import { defineCommand } from "../command.js";
import { columnsOf, listsOf, type Finding } from "../findings.js";
import { projectOptions } from "../options.js";
import { plural, printable } from "../text.js";

/** What a person reads of a list; the others are in the document. */
const SHOWN_MAX = 20;

export default defineCommand({
  options: projectOptions,
  examples: [
    ["svc diagnose --env live", "What is wrong in live; the exit code is 1 only where it cannot be told"],
    ["svc diagnose --json", "The same for programs"],
  ],
  async handler({ api, out, settings }) {
    const { environment } = settings;
    const { data } = await api.get<{ data: Finding[] }>(api.projectPath("diagnostics"), ["data"], { env: environment });
    const problems = data.data;
    // Not above: the help of this command must not wait for what draws a table.
    const { table } = await import("../table.js");
    out.result({ document: { environment, problems } }, () => {
      if (problems.length === 0) return "No problems found.";
      return [...problems.map(asText), `${inTotal(problems)} found in ${environment}.`].join("\n\n");
    });

    function asText(finding: Finding): string {
      const { bold, cyan, dim, red, yellow } = out.style;
      const colour = { problem: red, warning: yellow, info: cyan }[finding.severity];
      const lines = [
        `${colour(finding.severity)} ${dim(finding.code)} ${bold(printable(finding.message))}`,
        `  fix: ${printable(finding.fix)}`,
      ];
      for (const list of listsOf(finding)) {
        const items = "rows" in list ? list.rows : list.names;
        const shown =
          "rows" in list
            ? table(out, columnsOf(list.rows, out.now), list.rows.slice(0, SHOWN_MAX))
            : list.names.slice(0, SHOWN_MAX).map(printable).join(", ");
        lines.push("", shown);
        if (items.length > SHOWN_MAX) lines.push(`The first ${SHOWN_MAX}; --json has more.`);
      }
      return lines.join("\n");
    }
  },
});

/** `2 problems, 1 warning and 1 hint`. */
function inTotal(findings: readonly Finding[]): string {
  const count = (severity: Finding["severity"]): number =>
    findings.filter((finding) => finding.severity === severity).length;
  const parts = [
    [count("problem"), "problem"],
    [count("warning"), "warning"],
    [count("info"), "hint"],
  ] as const;
  const words = parts.filter(([number]) => number > 0).map(([number, word]) => plural(number, word));
  return [words.slice(0, -1).join(", "), words.at(-1)].filter((part) => part !== "").join(" and ");
}
