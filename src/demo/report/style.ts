/** The look of tables: boxes and colours on a terminal, aligned columns in a file or a pipe. */
import Table from "cli-table3";
import pc from "picocolors";

export interface ReportStyle {
  /** Boxes, blocks and colours. */
  rich: boolean;
  heading: (text: string) => string;
  dim: (text: string) => string;
}

/** The longest name that is not cut. */
const CELL_WIDTH_MAX = 44;
const BAR_WIDTH = 28;

/** Respects `NO_COLOR` and `FORCE_COLOR`; the boxes depend only on the terminal. */
export function styleFor(isTTY: boolean): ReportStyle {
  const colors = pc.createColors(isTTY && pc.isColorSupported);
  return { rich: isTTY, heading: colors.bold, dim: colors.dim };
}

export interface ReportColumn {
  title: string;
  align?: "left" | "right";
}

const NO_BORDERS = Object.fromEntries(Object.keys(new Table().options.chars).map((name) => [name, ""]));

/** Leaves out the lines between rows, which would double the height of every table. */
const NO_LINES = { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" };

/** One table with its heading, ending with an empty line. At most 100 characters wide for up to six columns of figures. */
export function reportTable(
  style: ReportStyle,
  heading: string,
  columns: readonly ReportColumn[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const drawn = new Table({
    // A table of names and values needs no head.
    head: columns.some(({ title }) => title !== "") ? columns.map(({ title }) => style.dim(title)) : [],
    colAligns: columns.map(({ align = "left" }) => align),
    style: { head: [], border: [], "padding-left": style.rich ? 1 : 0, "padding-right": style.rich ? 1 : 0 },
    chars: style.rich ? NO_LINES : { ...NO_BORDERS, middle: "  " },
  });
  for (const row of rows)
    drawn.push(row.map((cell) => (typeof cell === "number" ? figure(cell) : shorten(cell, CELL_WIDTH_MAX))));
  const body = drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
  return `${style.heading(heading)}\n${body.join("\n")}\n\n`;
}

/** A whole number with thousands separators, as 76,328. */
export function figure(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A bar in proportion to the largest value; anything above zero shows. */
export function styledBar(style: ReportStyle, value: number, largest: number): string {
  if (value <= 0 || largest <= 0) return "";
  return (style.rich ? "█" : "#").repeat(Math.max(1, Math.round((value / largest) * BAR_WIDTH)));
}

/** Cuts by code points, so that no character is split. */
export function shorten(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join("")}…`;
}
