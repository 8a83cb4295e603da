import type { Finding } from "../../http/admin/answers.js";
import { defineCommand, projectOptions } from "../core/command.js";
import type { Column } from "../output/table.js";
import { distance, isObject, formatNumber, plural, printable, titleOf } from "../../words/text.js";

type Row = Record<string, unknown>;

/** A column for each member of the rows; instants as how long ago they were. */
function columnsOf(rows: readonly Row[], now: number): Column<Row>[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => {
    const values = rows.map((row) => row[name]);
    return {
      title: titleOf(name),
      value: (row) => inWords(name, row[name], now),
      ...(values.every((value) => typeof value === "number") ? { align: "right" as const, fixed: true as const } : {}),
    };
  });
}

function inWords(name: string, value: unknown, now: number): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return formatNumber(value);
  if (typeof value !== "string") {
    const parts = Object.entries(value).map(([member, part]) => inWords(member, part, now));
    return parts.filter((part) => part !== "").join(", ");
  }
  return /^at$|(At|Since)$/.test(name) ? distance(value, now) : value;
}

/** A command within the service's advice, where it is not marked: it extends to the end of its clause. */
export const ADVISED_COMMAND = /(?<!`)\bsvc [a-z](?:[^.,;:`]|[.,;:](?=\S))*/g;

/** Rows of a list shown to people; --json has more. */
const SHOWN_MAX = 20;

export default defineCommand({
  options: projectOptions,
  examples: [
    ["svc diagnose --env live", "Problems in live; the exit code is 1 only if the check itself fails"],
    ["svc diagnose --json", "The same for programs"],
  ],
  async handler({ api, out, settings }) {
    const { environment } = settings;
    const { data } = await api.get<{ data: Finding[] }>(["diagnostics"], ["data"]);
    const problems = data.data;
    // Imported here: help texts must not wait for the module that draws tables.
    const { table } = await import("../output/table.js");
    out.result({ document: { environment, problems } }, () => {
      if (problems.length === 0) return "No problems found.";
      return [...problems.map(asText), `${inTotal(problems)} found in ${environment}.`].join("\n\n");
    });

    function asText(finding: Finding): string {
      const { bold, cyan, dim, red, yellow } = out.style;
      const colour = { problem: red, warning: yellow, info: cyan }[finding.severity];
      const lines = [
        `${colour(finding.severity)} ${dim(finding.code)} ${bold(out.atIn(printable(finding.message)))}`,
        `  fix: ${out.typedIn(printable(finding.fix).replaceAll(ADVISED_COMMAND, "`$&`"))}`,
      ];
      const lists = Object.values(finding.details).filter((list): list is unknown[] => Array.isArray(list));
      for (const list of lists.filter(({ length }) => length > 0)) {
        const first = list.slice(0, SHOWN_MAX);
        const shown = list.every(isObject)
          ? table(out, columnsOf(list, out.now), first as Row[])
          : first.map((name) => printable(String(name))).join(", ");
        lines.push("", shown);
        if (list.length > SHOWN_MAX) lines.push(`The first ${SHOWN_MAX}; --json has more.`);
      }
      return lines.join("\n");
    }
  },
});

/** `2 problems, 1 warning and 1 hint`. */
function inTotal(findings: readonly Finding[]): string {
  const words = Object.entries({ problem: "problem", warning: "warning", info: "hint" }).flatMap(([severity, word]) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count > 0 ? [plural(count, word)] : [];
  });
  return [words.slice(0, -1).join(", "), words.at(-1)].filter((part) => part !== "").join(" and ");
}
