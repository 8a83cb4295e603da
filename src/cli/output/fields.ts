import stringWidth from "string-width";

import type { Out } from "./out.js";

/** Labels and values, one pair a line, the values aligned. */
export function fields(out: Out, pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([label]) => stringWidth(label)));
  return pairs
    .map(([label, value]) => `${out.style.dim(label + " ".repeat(width - stringWidth(label)))}  ${value}`.trimEnd())
    .join("\n");
}
