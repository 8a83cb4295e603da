import { SourceMap } from "node:module";
import type { SourceMapPayload } from "node:module";
import path from "node:path";

import { OWN_FOLDERS } from "./bundle.js";
import type { Location } from "./diagnostic.js";

/** Finds the author's place in a stack of the bundle: the first frame that is neither the language's nor the compiler's. */
export type Locate = (stack: string | undefined) => Location | undefined;

// The bundle is given to Node.js as text, so its frames have no file: "at file:///project/[eval1]:12:34".
const FRAME = /\[eval\d*\]:(\d+):(\d+)/g;

export function locator(directory: string, map: string): Locate {
  const sourceMap = new SourceMap(JSON.parse(map) as SourceMapPayload);
  return (stack) => {
    for (const [, line, column] of (stack ?? "").matchAll(FRAME)) {
      const entry = sourceMap.findEntry(Number(line) - 1, Number(column) - 1);
      if (!("originalSource" in entry)) continue;
      const file = path.resolve(directory, entry.originalSource);
      if (OWN_FOLDERS.includes(path.dirname(file)) || !entry.originalSource.match(/\.[cm]?[jt]sx?$/)) continue;
      const relative = path.relative(directory, file).split(path.sep).join("/");
      return { file: relative, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
    }
    return undefined;
  };
}
