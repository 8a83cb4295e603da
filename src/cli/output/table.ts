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
  /** Whether it keeps its width if the terminal is too narrow, as a column of values to copy should. */
  fixed?: true;
  /** Whether it is narrowed only after all other narrowable columns: its values are of no use when cut. */
  kept?: true;
  /** Whether it is left out before a fixed or kept column is narrowed; the last such column first. */
  optional?: true;
  /** Styles a cell's text. */
  style?(text: string, row: Row): string;
}

const GAP = 2;
/** A column is never narrower than this, even if lines then wrap. */
const NARROWEST = 8;

/** No lines around or between cells: such a table is easy to read, to copy and to pass to other programs. */
const NO_BORDERS = Object.fromEntries(Object.keys(new Table().options.chars).map((name) => [name, ""]));

/** A table that fits the terminal: the widest columns are cut first, and omitted columns are named below. In a file or a pipe nothing is cut. */
export function table<Row>(out: Out, all: readonly Column<Row>[], rows: readonly Row[]): string {
  const columns = thatFit(out, all, rows);
  const omitted = all.filter((column) => !columns.includes(column)).map(({ title }) => title);
  const drawn = draw(out, columns, rows);
  return omitted.length === 0 ? drawn : `${drawn}\nThe terminal is too narrow for: ${omitted.join(", ")}.`;
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

/** The columns without the optional ones for which there is no room even if the others are at their narrowest. */
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

/** Shrinks the widest narrowable column until all fit, kept columns last; gives up where all are at their narrowest. */
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

/** A column that distinguishes present records from superseded ones; none unless both are shown. */
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

/** Reads a list up to the query's limit, and prints it. */
export async function printList<Row>(
  { api, out }: Pick<Context, "api" | "out">,
  query: ListQuery,
  path: ApiPath,
  { csv = false, ...view }: PageView<NoInfer<Row>> & { csv?: boolean },
): Promise<void> {
  if (csv) return printCsv({ api, out }, query, path);
  page<Row>(out, await readList<Row>(api, path, query), view);
}

/** Prints a list as comma-separated values as they arrive, all of it from the cursor on. */
export async function printCsv(
  { api, out }: Pick<Context, "api" | "out">,
  { limit: _, ...query }: ListQuery,
  path: ApiPath,
): Promise<void> {
  if (out.json) throw new UsageError("--csv and --json were given", "give one of them");
  return out.stream(textOf(await api.download(path, query, { type: "text/csv", what: "the list" })));
}

/** Prints a page of a list, and how to get the next one. */
export function page<Row>(
  out: Out,
  answer: ApiAnswer<ListPage<Row>>,
  { none, columns, heading = "" }: PageView<Row>,
): void {
  const { data } = answer.data;
  out.result(answer, () => paragraphs([heading, data.length === 0 ? none : table(out, columns, data)]));
  noteMore(out, answer.data);
}

/** Notes how to get the next page of a list, if there is one. */
export function noteMore(out: Out, { nextCursor }: ListPage<unknown>): void {
  if (!out.json && nextCursor !== null) out.note(`There are more: add --cursor ${shellWord(nextCursor)}`);
}

/** Values by label; undefined ones are left out. As pairs where labels may be any text, as numeric keys would be reordered. */
export type DetailFields = Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

/** Labels and values, one pair a line, the values aligned; below a sentence, if given. */
export function fields(out: Out, labelled: DetailFields, sentence?: string): string {
  const pairs = Array.isArray(labelled) ? (labelled as [string, string][]) : Object.entries(labelled);
  const shown = pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
  const width = Math.max(...shown.map(([label]) => stringWidth(label)));
  const lines = shown.map(([label, value]) =>
    `${out.style.dim(label + " ".repeat(width - stringWidth(label)))}  ${value}`.trimEnd(),
  );
  return [...(sentence === undefined ? [] : [sentence, ...(lines.length > 0 ? [""] : [])]), ...lines].join("\n");
}
