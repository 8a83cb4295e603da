import Type from "typebox";
import { customerId } from "./customers.js";
import { eventId } from "./events.js";
import { KIB, listQuery, nameFilter } from "./parameters.js";
import { elementOf, mapCall } from "../../ingestion/tracking.js";
import { adminRoute } from "./route.js";
import {
  count,
  countOf,
  describedText,
  exact,
  instant,
  jsonObject,
  listOf,
  named,
  orNull,
  versionName,
} from "./schemas.js";

/** Operations that one step names at most. */
const IDS_MAX = 500;

const violation = {
  code: Type.String({ examples: ["UNKNOWN_PROPERTY"] }),
  message: Type.String(),
  path: describedText("Where in the operation.", "properties.amount"),
};

export const quarantined = named("QuarantinedOperation", "An operation that was accepted and violates the schema.", {
  quarantineId: Type.String({ examples: ["qop_0000000000000400"] }),
  eventId: orNull(eventId, "The id that the event will have, which ingestion answered; null for an identify."),
  customerId: orNull(customerId, "Null where a call of the tracking API names none."),
  event: orNull(Type.String(), "Null for an identify, and where a call names none."),
  operation: jsonObject("As sent, numbers beyond double precision included."),
  idempotencyKey: orNull(Type.String()),
  quarantinedAt: instant,
  configVersion: orNull(versionName),
  ...violation,
  violations: Type.Array(exact(violation), { description: "The first twenty." }),
});

const filter = {
  schema: exact({
    ids: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: IDS_MAX })),
    event: nameFilter,
    code: nameFilter,
    cursor: listQuery.properties.cursor,
  }),
  bytesMax: 64 * KIB,
};

const nextCursor = orNull(
  Type.String(),
  "Send the request again with it as `cursor`, for the next step; null after the last one.",
);

/** Operations that violate the schema and are kept apart. */
export const quarantineRoutes = [
  adminRoute("list_quarantined", "GET /projects/:project/quarantine", {
    summary: "What is in quarantine, the last accepted first",
    query: exact({ ...listQuery.properties, id: nameFilter, event: nameFilter, code: nameFilter }),
    answers: {
      200: listOf(quarantined, {
        operations: countOf("All that are in quarantine."),
        limit: countOf("How many may be."),
        since: orNull(instant, "When the oldest came; null where there is none."),
      }),
    },
    passes: ({ at, query }) => [at, { ...query, quarantineId: query.id }, query],
  }),
  // Those that are named, or all that pass the filters; a step takes a few hundred.
  adminRoute("release_quarantined", "POST /projects/:project/quarantine/release", {
    summary: "Release from quarantine what is valid under the active version",
    body: filter,
    answers: {
      200: exact({
        released: count,
        kept: countOf("Those that violate the active version's schema, too; they stay."),
        expired: countOf("Those that are too old to be stored; they will be removed."),
        nextCursor,
      }),
    },
    answer: async ({ at, body, call }) => {
      const { model, calls } = await call("list_quarantined_calls", at, body, body.cursor);
      // Mapped anew: what was no event then may be one under the active version.
      const elements = calls.flatMap((kept) => {
        const element = model && elementOf(mapCall(model, kept.call, kept.at), kept.call);
        return element === null ? [] : [[kept.id, element] as const];
      });
      const mapped = elements.length === 0 ? null : JSON.stringify(Object.fromEntries(elements));
      return call("release_quarantined", at, body, body.cursor, mapped);
    },
  }),
  adminRoute("discard_quarantined", "POST /projects/:project/quarantine/discard", {
    summary: "Discard operations in quarantine for good",
    body: filter,
    answers: { 200: exact({ discarded: count, nextCursor }) },
    passes: ({ at, body }) => [at, body, body.cursor],
  }),
];
