import type { Answer, Page } from "./api.js";
import type { Out } from "./out.js";
import type { Column } from "./table.js";
import { table } from "./table.js";
import { shellWord } from "./text.js";

export interface PageView<Row> {
  /** What to say instead of an empty table. */
  none: string;
  columns: readonly Column<Row>[];
  /** A line above the table. */
  heading?: string;
}

/** Prints a page of a list, and how to get the next one. */
export function page<Row>(out: Out, answer: Answer<Page<Row>>, { none, columns, heading }: PageView<Row>): void {
  const { data, nextCursor } = answer.data;
  out.result(answer, () =>
    [...(heading === undefined ? [] : [heading, ""]), data.length === 0 ? none : table(out, columns, data)].join("\n"),
  );
  if (!out.json && nextCursor !== null) out.note(`There are more: add --cursor ${shellWord(nextCursor)}`);
}
