import { type Diagnostic, type Edit } from "./diagnostic.js";

/** A file of the author's with what is certain corrected. */
export interface CorrectedFile {
  /** Relative to the project, with forward slashes. */
  file: string;
  /** As it was read. */
  before: string;
  after: string;
  /** What is corrected in it, by place. */
  corrected: Diagnostic[];
}

/**
 * A file's text with the edits of diagnostics, those of each as a whole: what overlaps the edits of an earlier one is left for the next time.
 * Pure text: where nothing of it is certain, the text is as it was.
 */
export function correctFile(file: string, before: string, diagnostics: readonly Diagnostic[]): CorrectedFile {
  const starts = lineStarts(before);
  const position = (line: number, column: number) => starts[line - 1]! + column - 1;
  const spanOf = ({ line, column, endLine, endColumn, text }: Edit) => ({
    from: position(line, column),
    to: position(endLine, endColumn),
    text,
  });
  const taken: ReturnType<typeof spanOf>[] = [];
  const corrected = diagnostics.filter(({ edits = [] }) => {
    const spans = edits.map(spanOf);
    const isFree = spans.every((span) => !taken.some((other) => span.from < other.to && other.from < span.to));
    if (spans.length === 0 || !isFree) return false;
    taken.push(...spans);
    return true;
  });
  let after = "";
  let done = 0;
  // What is inserted where a text begins or ends stands outside of it.
  for (const { from, to, text } of taken.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    after += before.slice(done, from) + text;
    done = to;
  }
  return { file, before, after: after + before.slice(done), corrected };
}

/** Where lines begin, as the type checker counts them. */
function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)].map(({ index, 0: end }) => index + end.length)];
}
