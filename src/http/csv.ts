import { Readable } from "node:stream";
import type { Context } from "koa";

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
