import Table from "cli-table3";
import stringWidth from "string-width";

import type { Out } from "./out.js";
import { printable } from "./text.js";

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  align?: "right";
  /** Whether it keeps its width where the terminal is too narrow, as a column should that is to be copied. */
  fixed?: true;
  /** Styles a cell after it was laid out. */
  style?(text: string, row: Row): string;
}

const GAP = 2;
/** A column is not made narrower than this, even if lines then break. */
const NARROWEST = 8;

/** No lines around and between cells: such a table is easy to read, to copy and to pass to other programs. */
const NO_BORDERS = Object.fromEntries(
  [
    ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"],
    ...["left", "left-mid", "mid", "mid-mid", "right", "right-mid"],
  ].map((name) => [name, ""]),
);

/** A table that fits the terminal: where it does not, the widest columns are cut first. In a file or a pipe nothing is cut. */
export function table<Row>(out: Out, columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...cells.map((line) => stringWidth(line[index] ?? ""))),
  );
  const fixed = columns.map((column) => column.fixed === true);
  const drawn = new Table({
    chars: { ...NO_BORDERS, middle: " ".repeat(GAP) },
    colWidths: fit(widths, fixed, out.columns - GAP * (columns.length - 1)),
    colAligns: columns.map((column) => column.align ?? "left"),
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
  });
  drawn.push(columns.map(({ title }) => out.style.bold(title)));
  for (const [index, line] of cells.entries()) {
    drawn.push(line.map((text, column) => columns[column]?.style?.(text, rows[index] as Row) ?? text));
  }
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Takes from the widest column that may shrink until all fit; gives up where nothing more can be taken. */
function fit(widths: readonly number[], fixed: readonly boolean[], room: number): number[] {
  const fitted = [...widths];
  let excess = fitted.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const shrinkable = fitted.map((width, index) => (fixed[index] ? 0 : width));
    const widest = shrinkable.indexOf(Math.max(...shrinkable));
    if ((shrinkable[widest] ?? 0) <= NARROWEST) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
    excess -= 1;
  }
  return fitted;
}
