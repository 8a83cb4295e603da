import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * The messages of a stream of server-sent events.
 *
 * @param onSilence is called where nothing comes for so long that the connection must be dead; it has to end `chunks`
 */
export async function* messagesOf(
  chunks: AsyncIterable<Uint8Array>,
  silentMsMax: number,
  onSilence: () => void,
): AsyncGenerator<EventSourceMessage> {
  const listen = () => setTimeout(onSilence, silentMsMax);
  let timer = listen();
  try {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    for await (const chunk of chunks) {
      // How long the reader takes to read, as a pager does, says nothing of the connection.
      clearTimeout(timer);
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* messages.splice(0);
      timer = listen();
    }
  } finally {
    clearTimeout(timer);
  }
}
