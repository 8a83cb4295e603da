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
  const longest = longestRun(shown);
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 || shown.startsWith(" ") || shown.endsWith(" ") ? " " : "";
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** Any text as inline code. */
export function code(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  const fence = "`".repeat(longestRun(shown) + 1);
  return shown.startsWith("`") || shown.endsWith("`") ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}

/** A text that ends with a line break as a code block, with a fence that nothing in the text closes. */
export function block(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
