import { Readable } from "node:stream";
import type { Context } from "koa";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TSchema } from "typebox";
import { type Cell, csvLines } from "../words/csv.js";
import { compactJson, elementTexts, memberTexts } from "../words/json-text.js";

/** Spreadsheets know by it that the text is UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Answers with comma-separated values, made piece by piece while they are sent. Throws what the first piece throws; what fails later ends the
 * connection, so that half a list is no whole one.
 *
 * @param name of the file that a browser saves, which a spreadsheet will open
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

/** A member of a list's items, in an object of theirs where it has several names. */
type Column = readonly string[];

/** What of a schema is read here. */
interface Shape {
  properties?: Readonly<Record<string, Shape>>;
  anyOf?: readonly Shape[];
  items?: Shape;
}

/** What is accepted where a list is asked for so. */
export const CSV = "text/csv";
/** So much of a list is written at once. */
const CHUNK_LENGTH = 16_384;
/** The most that a list answers at once. */
const PAGE_MAX = 200;

/** The columns of a list as comma-separated values, by what its items have, and the first of lists that it may be; null where the answer is none. */
export function csvColumns(answer: TSchema | undefined): readonly Column[] | null {
  const shape: Shape | undefined = answer;
  const { data, nextCursor } = (shape?.anyOf?.[0] ?? shape)?.properties ?? {};
  return data?.items === undefined || nextCursor === undefined ? null : columnsOf(data.items);
}

/** One for each value, and for each array and each object whose members no schema names. */
function columnsOf(shape: Shape): Column[] {
  const object = [shape, ...(shape.anyOf ?? [])].find(({ properties = {} }) => Object.keys(properties).length > 0);
  if (object === undefined) return [[]];
  return Object.entries(object.properties!).flatMap(([name, member]) =>
    columnsOf(member).map((column) => [name, ...column]),
  );
}

/**
 * A list as comma-separated values, all pages of it from `cursor` on, or as many items as `limit` says: a heading such as `health.band`, then
 * a line for each item. Values of an array are separated by a comma and a space; what else is no single value is JSON, with all digits.
 *
 * @param read answers a page as JSON text
 */
export async function* listCsv(
  columns: readonly Column[],
  query: ReadonlyMap<string, string>,
  read: (query: ReadonlyMap<string, string>) => Promise<string>,
): AsyncGenerator<string> {
  const limit = query.get("limit");
  const isNumber = limit !== undefined && /^[1-9]\d{0,8}$/.test(limit);
  let left = isNumber ? Number(limit) : Infinity;
  let pending = csvLines([columns.map((column) => column.join("."))]);
  let from = query.get("cursor");
  do {
    const page = new Map(query);
    // What is no number is the list's to refuse.
    if (limit === undefined || isNumber) page.set("limit", String(Math.min(left, PAGE_MAX)));
    if (from !== undefined) page.set("cursor", from);
    const { data, nextCursor } = pageOf(await read(page));
    for (const item of data) {
      pending += csvLines([cellsOf(item, columns)]);
      if (pending.length < CHUNK_LENGTH) continue;
      yield pending;
      pending = "";
      // A page may have megabytes, and everybody else waits for as long as lines are made.
      await nextTurn();
    }
    if (pending !== "") yield pending;
    pending = "";
    left -= data.length;
    from = nextCursor ?? undefined;
  } while (from !== undefined && left > 0);
}

/** The items as texts. */
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
