import stringWidth from "string-width";

import type { Out } from "./out.js";

/** Values by their labels; what is undefined is left out. As pairs where labels may be anything, such as numbers. */
export type Fields = Readonly<Record<string, string | undefined>> | readonly (readonly [string, string])[];

/** Labels and values, one pair a line, the values aligned; below a sentence, where there is one. */
export function fields(out: Out, labelled: Fields, sentence?: string): string {
  const pairs = Array.isArray(labelled) ? (labelled as [string, string][]) : Object.entries(labelled);
  const shown = pairs.filter((pair): pair is [string, string] => pair[1] !== undefined);
  const width = Math.max(...shown.map(([label]) => stringWidth(label)));
  const lines = shown.map(([label, value]) =>
    `${out.style.dim(label + " ".repeat(width - stringWidth(label)))}  ${value}`.trimEnd(),
  );
  return [...(sentence === undefined ? [] : [sentence, ...(lines.length > 0 ? [""] : [])]), ...lines].join("\n");
}
