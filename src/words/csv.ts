import { stringify } from "csv-stringify/sync";

/** null is an empty cell. */
export type Cell = string | number | boolean | null;

/** Lines of comma-separated values (RFC 4180, with the line ends of Unix). A text that a spreadsheet would take for a formula, and run, begins with an apostrophe. */
export function csvLines(lines: readonly (readonly Cell[])[]): string {
  return stringify(lines as Cell[][], {
    record_delimiter: "unix",
    escape_formulas: true,
    // Many readers take it for the end of a line.
    quoted_match: /\r/,
    // A number may begin with a minus.
    cast: { number: (value) => ({ value: String(value), escape_formulas: false }), boolean: String },
  });
}
