import { SourceMap, type SourceMapPayload } from "node:module";
import path from "node:path";

import { isAuthored } from "./bundle.js";
import type { Location } from "../diagnostics/diagnostic.js";
import type { GuardedFile } from "../check/guards.js";
import { originalColumn, relative } from "../check/range.js";

/** Finds the author's place in a stack of the bundle: the first frame that is neither the language's nor the compiler's. */
export type Locate = (stack: string | undefined) => Location | undefined;

// The bundle is given to Node.js as text, so its frames have no file: "at file:///project/[eval1]:12:34".
const FRAME = /\[eval\d*\]:(\d+):(\d+)/g;

/**
 * @param map the source map of the bundle.
 * @param guarded the files that were rewritten before they were bundled.
 */
export function locator(directory: string, map: string, guarded: readonly GuardedFile[] = []): Locate {
  const sourceMap = new SourceMap(JSON.parse(map) as SourceMapPayload);
  return (stack) => {
    for (const [, line, column] of (stack ?? "").matchAll(FRAME)) {
      const entry = sourceMap.findEntry(Number(line) - 1, Number(column) - 1);
      if (!("originalSource" in entry)) continue;
      const file = path.resolve(directory, entry.originalSource);
      if (!isAuthored(file) || !entry.originalSource.match(/\.[cm]?[jt]sx?$/)) continue;
      const { insertions = [] } = guarded.find((rewritten) => rewritten.file === file) ?? {};
      const originalLine = entry.originalLine + 1;
      return {
        file: relative(directory, file),
        line: originalLine,
        column: originalColumn(insertions, originalLine, entry.originalColumn + 1),
      };
    }
    return undefined;
  };
}
