import Type from "typebox";
import { call } from "../../db/api/call.js";
import { invalidField } from "../errors.js";
import { openEventStream } from "../event-stream.js";
import { historyEntry } from "./history.js";
import { adminRoute } from "./route.js";
import { exact, formerly, instant, jsonObject, listOf, named, describedText } from "./schemas.js";
import { environmentQuery, nameFilter, shortListQuery, sinceFilter } from "./parameters.js";

export const eventId = describedText(
  "The id that ingestion returned; ids sort in order of acceptance.",
  "evt_0000000000000400",
);

const eventProperties = {
  eventId,
  id: formerly(eventId, "eventId"),
  customerId: Type.String(),
  event: Type.String(),
  properties: jsonObject("The properties as sent, including numbers beyond double precision."),
  occurredAt: instant,
  acceptedAt: instant,
  status: Type.Enum(["processed", "pending"], { description: "`processed` once it is evaluated." }),
};

export const listedEvent = named("Event", eventProperties);

export const eventDetail = named("EventDetail", {
  ...eventProperties,
  caused: Type.Array(historyEntry, {
    description: "Entries of the customer's present history that the event caused, in order; at most 100.",
  }),
});

/** Accepted events. */
export const eventRoutes = [
  adminRoute("list_events", "GET /projects/:project/events", {
    summary: "List events, the latest occurrence first",
    query: exact({
      ...shortListQuery.properties,
      customer: nameFilter,
      type: nameFilter,
      status: Type.Optional(Type.Enum(["processed", "pending"])),
      since: nameFilter,
    }),
    answers: { 200: listOf(listedEvent) },
    passes: ({ at, query }) => {
      const { customer: customerId, type: event, status, since } = query;
      return [at, { customerId, event, status }, sinceFilter(since), query];
    },
  }),
  /**
   * Streams events from now on, or after the event in the header `Last-Event-ID`, in order of acceptance, each once. At the beginning, and while
   * there are no events, an empty message has the id of the present position. Permissions are checked with every page; if they are lost, the stream
   * ends with an event `error` whose data is an error envelope.
   */
  adminRoute("stream_events", "GET /projects/:project/events/stream", {
    summary: "Stream events as they are accepted, as server-sent events",
    query: exact({ ...environmentQuery.properties, customer: nameFilter, type: nameFilter }),
    headers: {
      "Last-Event-ID": Type.Optional(
        describedText("The id of the last received message; the stream continues after it.", "evt_0000000000000400"),
      ),
    },
    type: "text/event-stream",
    scarce: true,
    answers: {
      200: Type.String({ description: "Server-sent events `event`, whose data are items as in the list of events." }),
    },
    answer: async ({ deps, credentials, at, query, ctx }) => {
      const filters = { customerId: query.customer, event: query.type };
      return openEventStream(ctx, {
        organizationId: credentials.organizationId,
        next: async (position) => {
          const page = await call(deps.sql, "stream_events", credentials, at, filters, position, 200);
          // The id that belongs to this number, whether or not such an event exists.
          return { ...page, positionId: `evt_${BigInt(page.position).toString(16).padStart(16, "0")}` };
        },
        position: readPosition(ctx.get("Last-Event-ID")),
      });
    },
  }),
  adminRoute("get_event", "GET /projects/:project/events/:event", {
    summary: "Get an event, with the changes that it caused",
    answers: { 200: eventDetail },
  }),
];

/** The number in the id of an event; null if there is no id. */
function readPosition(lastEventId: string): string | null {
  if (lastEventId === "") return null;
  const number = /^evt_([0-7][0-9a-f]{15})$/.exec(lastEventId)?.[1];
  if (number !== undefined) return BigInt(`0x${number}`).toString();
  const message = "The header Last-Event-ID is not the id of an event.";
  const fix = "Send the id of the last received event, or leave the header out to start from now.";
  throw invalidField("Last-Event-ID", lastEventId.slice(0, 256), message, fix);
}
