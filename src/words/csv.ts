import { stringify } from "csv-stringify/sync";

/** null is an empty cell. */
export type Cell = string | number | boolean | null;

/** Where a spreadsheet would take a text for a formula; also behind what some take for the end of a cell or a line: in Germany and France that is a semicolon. */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])|^(?=[\t\r\n])/g;

/** Lines of comma-separated values (RFC 4180, with the line ends of Unix). A text that a spreadsheet would take for a formula, and run, has an apostrophe before it. */
export function csvLines(lines: readonly (readonly Cell[])[]): string {
  return stringify(lines as Cell[][], {
    record_delimiter: "unix",
    // Many readers take it for the end of a line.
    quoted_match: /\r/,
    // A number may begin with a minus.
    cast: { string: (value) => value.replace(FORMULA, "'"), number: String, boolean: String },
  });
}
