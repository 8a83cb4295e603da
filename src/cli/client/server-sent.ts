import { createParser, type EventSourceMessage } from "eventsource-parser";

import type { Api, ApiPath, Query, StreamOptions } from "./api.js";

/** The messages of a stream of server-sent events, until the service or the signal ends it; fails where nothing comes for `silentMsMax`. */
export async function* messagesOf(
  api: Api,
  path: ApiPath,
  query: Query,
  { silentMsMax, signal, ...options }: Omit<StreamOptions, "type"> & { silentMsMax: number; signal: AbortSignal },
): AsyncGenerator<EventSourceMessage> {
  const silence = new AbortController();
  const end = () => silence.abort(new Error(`nothing came for ${silentMsMax / 1000} seconds`));
  const signals = AbortSignal.any([signal, silence.signal]);
  const chunks = await api.stream(path, query, { ...options, type: "text/event-stream", signal: signals });
  let timer = setTimeout(end, silentMsMax);
  try {
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    for await (const chunk of chunks) {
      // How long the reader takes to read, as a pager does, says nothing of the connection.
      clearTimeout(timer);
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* messages.splice(0);
      timer = setTimeout(end, silentMsMax);
    }
  } finally {
    clearTimeout(timer);
  }
}
