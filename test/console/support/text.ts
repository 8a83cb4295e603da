import { decodeHTML } from "entities";

/** What a page says, without its elements. */
export const textOf = (html: string): string =>
  decodeHTML(html.replaceAll(/<(?:[^>"]|"[^"]*")*>/g, " ")).replaceAll(/\s+/g, " ");
