import stringWidth from "string-width";
import type { Diagnostic } from "../../dsl-compiler/index.js";
import type { OutputStyle } from "./out.js";
import { plural, printable } from "../../words/text.js";

/** A diagnostic of the compiler (a place in a file) or of the service (a path in a document). */
export type AnyDiagnostic = Partial<Diagnostic> & { path?: string };

/** The longest part of a source line that is shown, in characters: marks below a line that wraps would be misplaced. */
const FRAME_WIDTH = 110;

/** Diagnostics for people: severity, code, message, place, the marked source lines (then followed by an empty line), and the fix. */
export function showDiagnostics(diagnostics: readonly unknown[], style: OutputStyle): string {
  const shown = diagnostics.map((found) => show(found as AnyDiagnostic, style));
  const isFramed = diagnostics.some((found) => (found as AnyDiagnostic).source !== undefined);
  return isFramed ? `${shown.join("\n\n")}\n` : shown.join("\n");
}

/** Counts by severity: `10 errors, 2 warnings`. */
export function countDiagnostics(diagnostics: readonly { severity?: string }[]): string {
  const warnings = diagnostics.filter(({ severity }) => severity === "warning").length;
  const errors = diagnostics.length - warnings;
  const counts = [errors > 0 ? plural(errors, "error") : "", warnings > 0 ? plural(warnings, "warning") : ""];
  return counts.filter((count) => count !== "").join(", ");
}

function show(found: AnyDiagnostic, style: OutputStyle): string {
  const { severity = "error", code = "", message = "", fix } = found;
  const paint = severity === "error" ? style.red : style.yellow;
  const lines = [[paint(severity), style.dim(printable(code)), printable(message)].join(" ")];
  const place = placeOf(found);
  if (place !== undefined) lines.push(`  ${style.bold(place)}`);
  lines.push(...frame(found, style));
  if (fix !== undefined) lines.push(`  fix: ${printable(fix)}`);
  return lines.join("\n");
}

/** The place in a file, or the path in a document. */
export function placeOf({ file, line, column, path }: AnyDiagnostic): string | undefined {
  if (file !== undefined) return printable([file, line, column].filter((part) => part !== undefined).join(":"));
  return path === undefined || path === "" ? undefined : printable(path);
}

/** The source lines, each with its number, and the marks below it. */
function frame(
  { severity, source = [], line = 1, column, endLine = line, endColumn }: AnyDiagnostic,
  style: OutputStyle,
): string[] {
  if (column === undefined) return [];
  const paint = severity === "warning" ? style.yellow : style.red;
  const gutter = String(line + source.length - 1).length;
  return source.flatMap((text, index) => {
    const number = line + index;
    const indent = text.length - text.trimStart().length;
    const from = number === line ? column - 1 : indent;
    const to = number === endLine ? (endColumn ?? column + 1) - 1 : text.trimEnd().length;
    const { shown, before, marked } = crop(text, from, Math.max(to, from + 1));
    const bar = (label: string) => style.dim(`  ${label.padStart(gutter)} |`);
    return [
      `${bar(String(number))} ${shown}`.trimEnd(),
      `${bar("")} ${" ".repeat(stringWidth(before))}${paint("^".repeat(Math.max(1, stringWidth(marked))))}`,
    ];
  });
}

/** The part of a line that is shown, so that its marked range is in view. */
function crop(text: string, from: number, to: number): { shown: string; before: string; marked: string } {
  // Terminals show tabs with different widths.
  const visible = (part: string) => printable(part.replaceAll("\t", " "));
  const start = to > FRAME_WIDTH ? Math.max(0, from - 30) : 0;
  const end = start + FRAME_WIDTH;
  const lead = start > 0 ? "…" : "";
  return {
    shown: lead + visible(text.slice(start, end)) + (text.length > end ? "…" : ""),
    before: lead + visible(text.slice(start, from)),
    marked: visible(text.slice(from, Math.min(to, end))),
  };
}
