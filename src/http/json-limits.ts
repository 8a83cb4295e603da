/**
 * What a JSON text asks of the engine's parser, before it is parsed: the parser takes seconds for a mebibyte of opening brackets, and
 * gigabytes for millions of `{}`.
 */
import { closingQuote } from "../operations/closing-quote.js";

const QUOTE = 0x22;

export interface ContainerLimits {
  depthMax: number;
  /** Objects and arrays in all. */
  containersMax: number;
}

/**
 * Which of the limits a JSON text exceeds, if any; in a text that is not valid, perhaps only what follows its first mistake does.
 */
export function exceededLimit(
  text: string,
  { depthMax, containersMax }: ContainerLimits,
): keyof ContainerLimits | null {
  if (text.length <= Math.min(depthMax, containersMax)) return null;
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5b || unit === 0x7b) {
      if (++depth > depthMax) return "depthMax";
      if (++containers > containersMax) return "containersMax";
    } else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    else if (unit === QUOTE) at = closingQuote(text, at);
  }
  return null;
}
