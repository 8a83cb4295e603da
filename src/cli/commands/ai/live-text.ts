import { printable } from "../../output/text.js";

/** A text without spaces is not held back for ever. */
const HELD_MAX = 200;
/** Longer than any name that stands for an identifier, so that none is cut. */
const KEPT = 64;
/** The first half of a line break, or of a character. */
const HALF = /[\r\uD800-\uDBFF]$/;

/**
 * Makes the parts of a language model's answer fit to be shown as they come: what a terminal would obey is shown as an escape, and identifiers
 * are put back, also where their names come in two parts.
 */
export class LiveText {
  readonly #restore: (text: string) => string;
  #held = "";

  constructor(restore: (text: string) => string = (text) => text) {
    this.#restore = restore;
  }

  /** What may be shown now. */
  add(part: string): string {
    this.#held = this.#restore(this.#held + part);
    const space = this.#held.search(/[^\S\r][\S\r]*$/);
    const end = space >= 0 ? space + 1 : this.#held.length > HELD_MAX ? this.#held.length - KEPT : 0;
    return this.#take(HALF.test(this.#held.slice(0, end)) ? end - 1 : end);
  }

  /** The rest. */
  end(): string {
    return this.#take(this.#held.length);
  }

  #take(end: number): string {
    const text = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return shown(text);
  }
}

/** A text of several lines as it may be shown. */
export function shown(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\t", "  ").split("\n").map(printable).join("\n");
}
