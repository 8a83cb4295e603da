/** The text of bytes as they come, without the line's end where they end, which `Out.stream` adds. */
export async function* textOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const part of parts) {
    const text = held + decoder.decode(part, { stream: true });
    const end = text.trimEnd().length;
    held = text.slice(end);
    if (end > 0) yield text.slice(0, end);
  }
}
