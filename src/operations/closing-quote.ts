const BACKSLASH = 0x5c;

/** The place of the quote that ends the string of a JSON text whose first quote is at `start`; past the text's end without one. */
export function closingQuote(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === BACKSLASH) at++;
    else if (unit === 0x22) break;
  }
  return at;
}
