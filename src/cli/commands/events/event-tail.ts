import { setTimeout } from "node:timers/promises";
import type { EventSourceMessage } from "eventsource-parser";
import type { Query } from "../../client/api.js";
import { refusal } from "../../client/failures.js";
import { isTransient } from "../../client/pages.js";
import { messagesOf } from "../../client/server-sent.js";
import type { Context } from "../../core/command.js";
import { UserError } from "../../core/errors.js";
import { printable } from "../../output/text.js";

/** The service sends something at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENT_MS_MAX = 45_000;
const PAUSE_MS_FIRST = 500;
const PAUSE_MS_MAX = 30_000;

/**
 * Events as they are accepted from now on, each as its JSON text, once and in the order of acceptance, until the signal ends it or the service
 * refuses. A connection that is lost is made again, going on where it was; what is to be said of that goes to standard error.
 */
export async function* tail(context: Context, query: Query, stop: AbortSignal): AsyncGenerator<string> {
  const { out, settings } = context;
  const { environment, project } = settings;
  const isStopped = (): boolean => stop.aborted;
  let lastId: string | undefined;
  for (let failures = 0; ;) {
    let isConnected = false;
    let failure: unknown;
    try {
      for await (const message of connection(context, query, lastId, stop)) {
        if (!isConnected) {
          isConnected = true;
          if (lastId === undefined) out.note(`Waiting for events in ${environment} of ${project}. Ctrl+C stops.`);
          else out.note("Connected again.");
          failures = 0;
        }
        const { id, event, data } = message;
        if (event === "error") {
          throw refusal(settings.apiUrl, 200, JSON.parse(data), () => settings.credentials());
        }
        if (id !== undefined) lastId = id;
        if (event === "event") yield data;
      }
    } catch (error) {
      failure = error;
    }
    if (isStopped()) return;
    // What the service never gave is not waited for, and what it refuses is not asked for again.
    if (failure instanceof UserError && (lastId === undefined || !isTransient(failure))) throw failure;
    if (failures === 0) out.note(`${lossInWords(failure)}; connecting again …`);
    await setTimeout(Math.min(PAUSE_MS_FIRST * 2 ** failures++, PAUSE_MS_MAX), undefined, { signal: stop });
  }
}

/** The messages of one connection. */
async function* connection(
  { api }: Context,
  query: Query,
  lastId: string | undefined,
  stop: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const silence = new AbortController();
  const signal = AbortSignal.any([stop, silence.signal]);
  const headers = lastId === undefined ? {} : { "last-event-id": lastId };
  const chunks = await api.stream(["events", "stream"], query, { type: "text/event-stream", headers, signal });
  yield* messagesOf(chunks, SILENT_MS_MAX, () => silence.abort());
}

function lossInWords(failure: unknown): string {
  return failure instanceof UserError ? printable(failure.message) : "The connection to the service was lost";
}
