import { type Diagnostic, type Edit } from "./diagnostic.js";

/** A file of the author with its certain corrections applied. */
export interface CorrectedFile {
  /** Relative to the project, with forward slashes. */
  file: string;
  /** The text as it was read. */
  before: string;
  after: string;
  /** The diagnostics that are corrected, by place. */
  corrected: Diagnostic[];
}

/**
 * Applies the edits of diagnostics to a file's text, all edits of a diagnostic or none: those that overlap edits of an earlier diagnostic are left for the
 * next run. Without edits the text is unchanged.
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
  // An insertion at the beginning or end of a replaced text goes outside of it.
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
