/** What spreadsheets would take for a formula, and run. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A line of comma-separated values (RFC 4180), without its end. Text that a spreadsheet would take for a formula begins with an apostrophe; null
 * is an empty cell.
 */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return cells.map(cellText).join(",");
}

function cellText(cell: string | number | null): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
