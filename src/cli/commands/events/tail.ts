import { setTimeout } from "node:timers/promises";

import type { Event } from "../../../http/admin/answers.js";
import type { Query } from "../../client/api.js";
import { envelopeError } from "../../client/failures.js";
import { isRetryable } from "../../client/pages.js";
import { type Context, defineCommand, projectOptions } from "../../core/command.js";
import { UserError } from "../../core/errors.js";
import { interruptible } from "../../output/interruption.js";
import { propertiesIn } from "../../../words/json-text.js";
import type { Out } from "../../output/out.js";
import { printable } from "../../../words/text.js";

/** The service sends something at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENT_MS_MAX = 45_000;
const PAUSE_MS_FIRST = 500;
const PAUSE_MS_MAX = 30_000;

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Only those of this customer" },
    type: { type: "text", describe: "Only those of this name" },
  },
  examples: [
    ["svc events tail --type project_created", "Events of that name as they are accepted, until Ctrl+C"],
    ["svc events tail --json | jq .customerId", "With --json, one document a line, for other programs"],
  ],
  async handler(context, { customer, type }) {
    const { out } = context;
    await interruptible(async (stop) => {
      for await (const item of tail(context, { customer, type }, stop))
        await out.line(out.json ? item : inWords(out, item), stop);
    });
  },
});

function inWords(out: Out, item: string): string {
  const { customerId, event, occurredAt } = JSON.parse(item) as Event;
  const { cyan, dim } = out.style;
  const parts = [dim(out.at(occurredAt)), printable(customerId), cyan(printable(event)), printable(propertiesIn(item))];
  return parts.join("  ").trimEnd();
}

/**
 * Events as they are accepted from now on, each as its JSON text, once and in the order of acceptance, until the signal ends it or the
 * service refuses. A lost connection is reopened and resumes where it was, with notes on standard error.
 */
async function* tail({ api, out, settings }: Context, query: Query, stop: AbortSignal): AsyncGenerator<string> {
  const { environment, project } = settings;
  const isStopped = (): boolean => stop.aborted;
  let lastId: string | undefined;
  for (let failures = 0; ;) {
    let isConnected = false;
    let failure: unknown;
    const headers = lastId === undefined ? {} : { "last-event-id": lastId };
    const connection = { silentMsMax: SILENT_MS_MAX, signal: stop, headers };
    try {
      for await (const { id, event, data } of api.messages(["events", "stream"], query, connection)) {
        if (!isConnected) {
          isConnected = true;
          if (lastId === undefined) out.note(`Waiting for events in ${environment} of ${project}. Ctrl+C stops.`);
          else out.note("Reconnected.");
          failures = 0;
        }
        if (event === "error") {
          throw envelopeError(settings.apiUrl, 200, JSON.parse(data), () => settings.credentials());
        }
        if (id !== undefined) lastId = id;
        if (event === "event") yield data;
      }
    } catch (error) {
      failure = error;
    }
    if (isStopped()) return;
    // Retry only transient failures, and only after the stream worked once.
    if (failure instanceof UserError && (lastId === undefined || !isRetryable(failure))) throw failure;
    const loss = failure instanceof UserError ? printable(failure.message) : "The connection to the service was lost";
    if (failures === 0) out.note(`${loss}; reconnecting …`);
    await setTimeout(Math.min(PAUSE_MS_FIRST * 2 ** failures++, PAUSE_MS_MAX), undefined, { signal: stop });
  }
}
