import type { Style } from "./out.js";
import { printable } from "./text.js";

/** A diagnostic of the compiler (a place in a file) or of the service (a path in a document). */
interface AnyDiagnostic {
  code?: string;
  severity?: string;
  message?: string;
  file?: string;
  line?: number;
  column?: number;
  path?: string;
  fix?: string;
}

/** Diagnostics for people, each with its place, severity, code and message, and below it what to do. */
export function showDiagnostics(diagnostics: readonly unknown[], style: Style): string {
  return diagnostics.map((found) => show(found as AnyDiagnostic, style)).join("\n");
}

function show(found: AnyDiagnostic, style: Style): string {
  const { severity = "error", code = "", message = "", fix } = found;
  const paint = severity === "error" ? style.red : style.yellow;
  const head = [paint(severity), style.dim(printable(code)), printable(message)].join(" ");
  const place = placeOf(found);
  const lines = [place === undefined ? head : `${style.bold(place)} ${head}`];
  if (fix !== undefined) lines.push(`  fix: ${printable(fix)}`);
  return lines.join("\n");
}

function placeOf({ file, line, column, path }: AnyDiagnostic): string | undefined {
  if (file !== undefined) return printable([file, line, column].filter((part) => part !== undefined).join(":"));
  return path === undefined || path === "" ? undefined : printable(path);
}
