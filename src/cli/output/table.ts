import Table from "cli-table3";
import stringWidth from "string-width";

import type { ListPage } from "../../http/admin/answers.js";
import type { ApiAnswer, ApiPath } from "../client/api.js";
import { type ListQuery, readList } from "../client/pages.js";
import type { Context } from "../core/command.js";
import { UsageError } from "../core/errors.js";
import { type Out, textOf } from "./out.js";
import { paragraphs, printable, shellWord } from "../../words/text.js";

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  align?: "right";
  /** Whether it keeps its width where the terminal is too narrow, as a column should that is to be copied. */
  fixed?: true;
  /** Whether it is narrowed only where that is not enough: half of what it says says nothing. */
  kept?: true;
  /** Whether it is left out rather than that one of those is narrowed; the last one first. */
  optional?: true;
  /** Styles a cell after it was laid out. */
  style?(text: string, row: Row): string;
}

const GAP = 2;
/** A column is not made narrower than this, even if lines then break. */
const NARROWEST = 8;

/** No lines around and between cells: such a table is easy to read, to copy and to pass to other programs. */
const NO_BORDERS = Object.fromEntries(Object.keys(new Table().options.chars).map((name) => [name, ""]));

/** A table that fits the terminal: the widest columns are cut first, and what is left out is named below. In a file or a pipe nothing is cut. */
export function table<Row>(out: Out, all: readonly Column<Row>[], rows: readonly Row[]): string {
  const columns = thatFit(out, all, rows);
  const omitted = all.filter((column) => !columns.includes(column)).map(({ title }) => title);
  const drawn = draw(out, columns, rows);
  return omitted.length === 0 ? drawn : `${drawn}\nToo narrow for: ${omitted.join(", ")}.`;
}

function draw<Row>(out: Out, columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.value(row))));
  const widths = widthsOf(columns, rows);
  const drawn = new Table({
    chars: { ...NO_BORDERS, middle: " ".repeat(GAP) },
    colWidths: fit(columns, widths, out.columns),
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

function widthsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number[] {
  return columns.map((column) =>
    rows.reduce((width, row) => Math.max(width, stringWidth(printable(column.value(row)))), stringWidth(column.title)),
  );
}

/** The columns without as many optional ones as there is no room for, even where the others are narrow. */
function thatFit<Row>(out: Out, all: readonly Column<Row>[], rows: readonly Row[]): readonly Column<Row>[] {
  const widths = widthsOf(all, rows);
  let shown = all.map((column, index) => ({ column, least: least(column, widths[index] ?? 0) }));
  const room = (): number => out.columns - GAP * (shown.length - 1) - shown.reduce((sum, one) => sum + one.least, 0);
  while (room() < 0) {
    const last = shown.findLast(({ column }) => column.optional);
    if (last === undefined) break;
    shown = shown.filter((one) => one !== last);
  }
  return shown.map(({ column }) => column);
}

function least<Row>({ fixed, kept }: Column<Row>, width: number): number {
  return fixed === true || kept === true ? width : Math.min(width, NARROWEST);
}

/** Takes from the widest column that may shrink until all fit, and from those that are kept at last; gives up where nothing more can be taken. */
function fit<Row>(columns: readonly Column<Row>[], widths: readonly number[], total: number): number[] {
  const fitted = [...widths];
  const room = total - GAP * (columns.length - 1);
  for (const isNarrowed of [
    ({ fixed, kept }: Column<Row>) => fixed !== true && kept !== true,
    ({ fixed }: Column<Row>) => fixed !== true,
  ]) {
    let excess = fitted.reduce((sum, width) => sum + width, 0) - room;
    while (excess > 0) {
      const shrinkable = fitted.map((width, index) => (isNarrowed(columns[index]!) ? width : 0));
      const widest = shrinkable.indexOf(Math.max(...shrinkable));
      if ((shrinkable[widest] ?? 0) <= NARROWEST) break;
      fitted[widest] = (fitted[widest] ?? 0) - 1;
      excess -= 1;
    }
  }
  return fitted;
}

/** Whether a record counts, where those that recomputes replaced are shown, too. */
export function recordColumn<Row extends { superseded?: boolean }>(isShown: boolean): Column<Row>[] {
  if (!isShown) return [];
  return [
    { title: "Record", value: ({ superseded }) => (superseded === true ? "superseded" : "present"), fixed: true },
  ];
}

export interface PageView<Row> {
  none: string;
  columns: readonly Column<Row>[];
  heading?: string;
}

/** Reads as much of a list as is asked for, and prints it. */
export async function printList<Row>(
  { api, out }: Pick<Context, "api" | "out">,
  query: ListQuery,
  path: ApiPath,
  { csv = false, ...view }: PageView<NoInfer<Row>> & { csv?: boolean },
): Promise<void> {
  if (csv) return printCsv({ api, out }, query, path);
  page<Row>(out, await readList<Row>(api, path, query), view);
}

/** Prints a list as comma-separated values as it comes, all of it from the cursor on. */
export async function printCsv(
  { api, out }: Pick<Context, "api" | "out">,
  { limit: _, ...query }: ListQuery,
  path: ApiPath,
): Promise<void> {
  if (out.json) throw new UsageError("--csv and --json were given", "give one of them");
  return out.stream(textOf(await api.stream(path, query, { type: "text/csv" })));
}

/** Prints a part of a list, and how to get the next one. */
export function page<Row>(
  out: Out,
  answer: ApiAnswer<ListPage<Row>>,
  { none, columns, heading = "" }: PageView<Row>,
): void {
  const { data } = answer.data;
  out.result(answer, () => paragraphs([heading, data.length === 0 ? none : table(out, columns, data)]));
  noteMore(out, answer.data);
}

/** Says, beside what was printed, how to go on where a list does. */
export function noteMore(out: Out, { nextCursor }: ListPage<unknown>): void {
  if (!out.json && nextCursor !== null) out.note(`There are more: add --cursor ${shellWord(nextCursor)}`);
}

/** Values by their labels; what is undefined is left out. As pairs where labels may be anything, such as numbers. */
export type DetailFields = Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

/** Labels and values, one pair a line, the values aligned; below a sentence, where there is one. */
export function fields(out: Out, labelled: DetailFields, sentence?: string): string {
  const pairs = Array.isArray(labelled) ? (labelled as [string, string][]) : Object.entries(labelled);
  const shown = pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
  const width = Math.max(...shown.map(([label]) => stringWidth(label)));
  const lines = shown.map(([label, value]) =>
    `${out.style.dim(label + " ".repeat(width - stringWidth(label)))}  ${value}`.trimEnd(),
  );
  return [...(sentence === undefined ? [] : [sentence, ...(lines.length > 0 ? [""] : [])]), ...lines].join("\n");
}
