import { stringify } from "csv-stringify/sync";

/** The value of a cell; null is an empty cell. */
export type Cell = string | number | boolean | null;

/**
 * Where a spreadsheet would see a formula: at the start of a text, and after what some treat as the end of a cell or a line, such as `;` in Germany. A
 * quote there begins a quoted cell, and since quotes are doubled, that is empty: what follows it is the cell's text. The character is looked at first, so
 * that a text of many quotes takes no longer than another.
 */
const FORMULA = /(?=[=+\-@＝＋－＠])(?<=^|[;\t\r\n]"*)|^(?=[\t\r\n])/g;

/** Lines of comma-separated values (RFC 4180, but with Unix line ends). A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function csvLines(lines: readonly (readonly Cell[])[]): string {
  return stringify(lines as Cell[][], {
    record_delimiter: "unix",
    // Many readers treat a carriage return as the end of a line.
    quoted_match: /\r/,
    // A number may begin with a minus.
    cast: { string: (value) => value.replace(FORMULA, "'"), number: String, boolean: String },
  });
}
