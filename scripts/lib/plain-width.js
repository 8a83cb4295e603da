// In the place of `string-width` where only our own texts are measured: each character takes a column. Colours take none.
import { stripVTControlCharacters } from "node:util";

export default function width(text) {
  return stripVTControlCharacters(text).length;
}
