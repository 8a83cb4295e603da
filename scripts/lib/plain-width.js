// Replaces `string-width` where only our own texts are measured: each character takes one column, colours take none.
import { stripVTControlCharacters } from "node:util";

export default function width(text) {
  return stripVTControlCharacters(text).length;
}
