import type { Event } from "../../http/admin/answers.js";
import { elementTexts, memberTexts, objectFromTexts, propertiesIn } from "../../words/json-text.js";
import { isObject, printable } from "../../words/text.js";
import type { Query } from "../client/api.js";
import { envelopeError } from "../client/failures.js";
import { isRetryable, readList } from "../client/pages.js";
import { type Context, csvPageOptions, defineCommand, projectOptions } from "../core/command.js";
import { UsageError, UserError } from "../core/errors.js";
import { sinceOption } from "../core/values.js";
import { interruptible } from "../output/interruption.js";
import type { Out } from "../output/out.js";
import { setTimeout } from "node:timers/promises";

type Accepted = {
  eventId: string;
  accepted: boolean;
  duplicate: boolean;
  /** Why it is in quarantine, if it is. */
  quarantined?: { code: string; message: string };
};

/** The service sends something at least every 15 seconds; a connection that is silent for longer is dead. */
const SILENT_MS_MAX = 45_000;
const PAUSE_MS_FIRST = 500;
const PAUSE_MS_MAX = 30_000;

export default {
  send: defineCommand({
    args: { event: "The event's name" },
    options: {
      customer: { type: "text", required: true, describe: "The customer's id" },
      props: { type: "text", describe: "The event's properties, as a JSON object" },
      timestamp: { type: "text", describe: "When it happened, as an ISO date-time; now unless given" },
      idempotencyKey: { type: "text", describe: "Makes sending it again harmless" },
    },
    examples: [
      [
        `svc events send project_created --customer cus_42 --props '{"seats": 5}'`,
        "The key comes from SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY",
      ],
    ],
    async handler({ api, out, settings }, { event, customer, props, timestamp, idempotencyKey }) {
      const given = Object.entries({ customerId: customer, event, timestamp, idempotencyKey }).filter(
        ([, value]) => value !== undefined,
      );
      const members = given.map(([name, value]) => [name, JSON.stringify(value)] as const);
      const body = objectFromTexts(props === undefined ? members : [...members, ["properties", jsonObject(props)]]);
      const answer = await api.ingest<Accepted>("/v1/events", body, ["eventId", "accepted"]);
      const { eventId, duplicate, quarantined } = answer.data;
      const { environment } = settings;
      out.result(answer, () => {
        const accepted = duplicate
          ? `The idempotency key was used for the same event before: ${printable(eventId)} in ${environment}.`
          : `Accepted as ${printable(eventId)} in ${environment}.`;
        if (quarantined === undefined) return accepted;
        const why = printable(`${quarantined.code}: ${quarantined.message}`);
        return `${accepted}\nIt is in quarantine, without effect until it is released (\`svc events quarantine\`): ${why}`;
      });
    },
  }),

  list: defineCommand({
    options: {
      ...projectOptions,
      customer: { type: "text", describe: "Only those of this customer" },
      type: { type: "text", describe: "Only those of this name" },
      status: {
        type: "text",
        choices: ["processed", "pending"],
        describe: "Only those that were evaluated, or wait for evaluation: processed or pending",
      },
      since: { type: "text", describe: "Only those that occurred since: how long ago, such as 7d, or an ISO date" },
      ...csvPageOptions,
      limit: { ...csvPageOptions.limit, default: 20 },
    },
    examples: [
      ["svc events list --customer cus_42 --since 7d", "What a customer did in the last week, newest first"],
      ["svc events list --status pending --limit 200", "What was accepted and not evaluated yet"],
    ],
    async handler({ api, out }, { customer, type, status, since, limit, cursor, csv }) {
      const { page, printCsv } = await import("../output/table.js");
      const query = { customer, type, status, since: sinceOption("--since", since), limit, cursor };
      if (csv) return printCsv({ api, out }, query, ["events"]);
      const answer = await readList<Event>(api, ["events"], query);
      // From the answer's text, so that long numbers keep all their digits.
      const items = elementTexts(memberTexts(answer.text).get("data") ?? "[]");
      const properties = new Map(answer.data.data.map((event, index) => [event, propertiesIn(items[index] ?? "{}")]));
      const paint = (text: string, event: Event) => (event.status === "pending" ? out.style.yellow(text) : text);
      page(out, answer, {
        none: "There is no such event.",
        columns: [
          { title: "Occurred", value: ({ occurredAt }) => out.at(occurredAt), fixed: true },
          { title: "Customer", value: ({ customerId }) => customerId },
          { title: "Event", value: ({ event }) => event, style: out.style.cyan },
          { title: "Status", value: (event) => event.status, style: paint, optional: true },
          { title: "Properties", value: (event) => properties.get(event) ?? "" },
          { title: "Id", value: ({ id }) => id, fixed: true, optional: true },
        ],
      });
    },
  }),

  tail: defineCommand({
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
  }),
};

/** The properties as the text given, so that long numbers keep all their digits. */
function jsonObject(text: string): string {
  const fix = `write an object such as '{"seats": 5}'`;
  try {
    if (isObject(JSON.parse(text))) return text;
  } catch (error) {
    throw new UsageError(`--props is not valid JSON (${(error as Error).message})`, fix);
  }
  throw new UsageError("--props is not a JSON object", fix);
}

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
