import { Readable } from "node:stream";
import type { Context } from "koa";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TSchema } from "typebox";
import { type Cell, csvLines } from "../words/csv.js";
import { compactJson, elementTexts, memberTexts } from "../words/json-text.js";
import { integerOf } from "./request/shapes.js";

/** Tells spreadsheets that the text is UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Answers with comma-separated values, which are generated while they are sent. Throws what the first piece throws; a later failure closes the
 * connection, so that half a list is not taken for a whole one.
 *
 * @param name of the file that a browser saves, for a spreadsheet
 */
export async function answerCsv(ctx: Context, pieces: AsyncGenerator<string>, name?: string): Promise<void> {
  const first = await pieces.next();
  ctx.set("Cache-Control", "no-store");
  ctx.set("X-Content-Type-Options", "nosniff");
  if (name !== undefined) ctx.attachment(name);
  ctx.type = "text/csv; charset=utf-8";
  const mark = name === undefined ? "" : BYTE_ORDER_MARK;
  ctx.body = Readable.from(withFirst(first, pieces, mark), { objectMode: false });
}

async function* withFirst(first: IteratorResult<string>, rest: AsyncGenerator<string>, mark: string) {
  if (first.done === true) return;
  yield mark + first.value;
  yield* rest;
}

/** The path of a member of a list's items. */
type Column = readonly string[];

/** The parts of a JSON Schema that are used here. */
interface Shape {
  properties?: Readonly<Record<string, Shape>>;
  anyOf?: readonly Shape[];
  items?: Shape;
}

/** The media type by which a client asks for a list as comma-separated values. */
export const CSV = "text/csv";
/** Least number of characters that are written at once. */
const CHUNK_LENGTH = 16_384;
/** The largest page of a list, and the first one that is read. */
const PAGE_MAX = 200;
const PAGE_FIRST = 25;
/** After a longer page fewer items are read, so that taking it apart does not delay other requests: an item may have 512 KiB. */
const PAGE_LENGTH_MAX = 4 * 1024 * 1024;

/** The CSV columns of a list, from the schema of its items; null if the answer is not a list. */
export function csvColumns(answer: TSchema | undefined): readonly Column[] | null {
  const shape: Shape | undefined = answer;
  const { data, nextCursor } = (shape?.anyOf?.[0] ?? shape)?.properties ?? {};
  return data?.items === undefined || nextCursor === undefined ? null : columnsOf(data.items);
}

/** One column for each scalar, array, and object without declared members, of all alternatives. */
function columnsOf(shape: Shape): Column[] {
  const members = [shape, ...(shape.anyOf ?? [])].flatMap(({ properties = {} }) => Object.entries(properties));
  if (members.length === 0) return [[]];
  const columns = members.flatMap(([name, member]) => columnsOf(member).map((column) => [name, ...column]));
  return [...new Map(columns.map((column) => [column.join("."), column])).values()];
}

/**
 * A list as comma-separated values, all pages from `cursor` on or at most `limit` items: a header line with names such as `health.band`, then
 * a line for each item. Scalars of an array are separated by a comma and a space; other arrays and objects are JSON, with all digits of numbers.
 *
 * @param read returns a page as JSON text
 */
export async function* listCsv(
  columns: readonly Column[],
  query: ReadonlyMap<string, string>,
  read: (query: ReadonlyMap<string, string>) => Promise<string>,
): AsyncGenerator<string> {
  const limit = query.get("limit");
  const number = limit === undefined ? Infinity : integerOf(limit);
  let remaining = number ?? Infinity;
  let pending = csvLines([columns.map((column) => column.join("."))]);
  let from = query.get("cursor");
  let size = PAGE_FIRST;
  do {
    const page = new Map(query);
    // An invalid limit is refused by the list itself.
    if (number !== null) page.set("limit", String(Math.min(remaining, size)));
    if (from !== undefined) page.set("cursor", from);
    const text = await read(page);
    size = text.length > PAGE_LENGTH_MAX ? Math.max(1, size >> 1) : Math.min(PAGE_MAX, 2 * size);
    const { data, nextCursor } = pageOf(text);
    for (const item of data) {
      pending += csvLines([cellsOf(item, columns)]);
      if (pending.length < CHUNK_LENGTH) continue;
      yield pending;
      pending = "";
      // A page may have megabytes; other requests are served in between.
      await nextTurn();
    }
    if (pending !== "") yield pending;
    pending = "";
    remaining -= data.length;
    from = nextCursor ?? undefined;
  } while (from !== undefined && remaining > 0);
}

/** A page with its items as JSON texts. */
function pageOf(text: string): { data: readonly string[]; nextCursor: string | null } {
  const members = memberTexts(text);
  const nextCursor = JSON.parse(members.get("nextCursor") ?? "null") as string | null;
  return { data: elementTexts(members.get("data") ?? ""), nextCursor };
}

function cellsOf(text: string, columns: readonly Column[]): Cell[] {
  const item: unknown = JSON.parse(text);
  return columns.map((column) => cellAt(item, text, column));
}

function cellAt(item: unknown, text: string, column: Column): Cell {
  let value = item;
  for (const name of column) value = (value as Record<string, unknown> | null | undefined)?.[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return value as Cell;
  const values: readonly unknown[] | null = Array.isArray(value) ? value : null;
  if (values?.every((each) => typeof each !== "object") === true) return values.join(", ");
  return compactJson(column.reduce((within, name) => memberTexts(within).get(name) ?? "", text));
}
