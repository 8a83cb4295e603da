import { formatNumber, printable } from "../../words/text.js";

/** A pull request comment has at most 65,536 characters, so long lists and long names are cut. */
const ROWS = 20;
const NAME_LENGTH = 40;

/** A title, a table of the first rows, and how many more there are; empty if there are no rows. */
export function sectionOf(title: string, heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const more = rows.length > ROWS ? [`And ${formatNumber(rows.length - ROWS)} more.`] : [];
  return [`#### ${title}`, tableOf(heads, rows.slice(0, ROWS)), ...more];
}

export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** An untrusted name as a code span, so that nothing in it is read as Markdown, HTML, a mention or the end of a cell. */
export function codeSpan(text: string, length = NAME_LENGTH): string {
  const cut = text.length > length ? `${[...text].slice(0, length - 1).join("")}…` : text;
  const shown = printable(cut).replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 || shown.startsWith(" ") || shown.endsWith(" ") ? " " : "";
  return `${fence}${pad}${shown}${pad}${fence}`;
}
