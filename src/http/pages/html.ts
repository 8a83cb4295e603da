import { escapeUTF8 } from "entities/escape";

/** Text that is HTML already. `html` makes it; whoever makes it otherwise vouches for the text. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Value = Html | string | number | null | undefined | readonly Html[];

/**
 * HTML from a template. Values are escaped, for text and for attributes in quotation marks; Html stands as it is, null and undefined
 * are nothing.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(render)));
}

function render(value: Value): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.join("\n");
  return escapeUTF8(String(value));
}
