import { Readable } from "node:stream";
import type { Context } from "koa";
import { csvLine } from "../words/csv.js";

/** Spreadsheets know by it that the text is UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Answers with a file of comma-separated values, made piece by piece while it is sent. Throws what the first piece throws; what fails later ends the
 * connection, so that half a file is no whole one.
 *
 * @param name of the file
 */
export async function answerCsv(ctx: Context, name: string, pieces: AsyncGenerator<string>): Promise<void> {
  const first = await pieces.next();
  ctx.set("Cache-Control", "no-store");
  ctx.set("X-Content-Type-Options", "nosniff");
  ctx.attachment(name);
  ctx.type = "text/csv; charset=utf-8";
  ctx.body = Readable.from(withFirst(first, pieces), { objectMode: false });
}

async function* withFirst(first: IteratorResult<string>, rest: AsyncGenerator<string>) {
  if (first.done === true) return;
  yield BYTE_ORDER_MARK + first.value;
  yield* rest;
}

/** Lines as a piece of a file. */
export function csvLines(lines: readonly Parameters<typeof csvLine>[0][]): string {
  return lines.map((cells) => `${csvLine(cells)}\r\n`).join("");
}
