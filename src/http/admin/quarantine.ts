import Type from "typebox";
import { customerId } from "./customers.js";
import { eventId } from "./events.js";
import { KIB, listQuery, nameFilter } from "./parameters.js";
import { largeBodies } from "../request/large-bodies.js";
import { mapKeptText } from "./map-kept-calls.js";
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

/** The most operations that one request names. */
const IDS_MAX = 500;
/** Up to so many characters, calls are mapped in the event loop. A step of a release has up to eight mebibytes, which take seconds. */
const AT_ONCE_MAX = 64 * 1024;

const violation = {
  code: Type.String({ examples: ["UNKNOWN_PROPERTY"] }),
  message: Type.String(),
  path: describedText("Where in the operation.", "properties.amount"),
};

export const quarantined = named("QuarantinedOperation", "An operation that was accepted and violates the schema.", {
  quarantineId: Type.String({ examples: ["qop_0000000000000400"] }),
  eventId: orNull(
    eventId,
    "The id that the event will have, which ingestion returned; null for an identify operation.",
  ),
  customerId: orNull(customerId, "Null for a call of the tracking API without a customer."),
  event: orNull(Type.String(), "Null for an identify operation, and for a call without an event name."),
  operation: jsonObject("The operation as sent, including numbers beyond double precision."),
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
  "Send the request again with it as `cursor` to continue; null when everything is done.",
);

export const releasedOperations = exact({
  released: count,
  kept: countOf("Operations that stay, because they violate the schema of the active version, too."),
  expired: countOf("Operations that are too old to be stored; they will be removed."),
  nextCursor,
});

/** Operations in quarantine, which violate the schema. */
export const quarantineRoutes = [
  adminRoute("list_quarantined", "GET /projects/:project/quarantine", {
    summary: "List the operations in quarantine, the last accepted first",
    query: exact({ ...listQuery.properties, id: nameFilter, event: nameFilter, code: nameFilter }),
    answers: {
      200: listOf(quarantined, {
        operations: countOf("Number of all operations in quarantine."),
        limit: countOf("The largest number allowed."),
        since: orNull(instant, "When the oldest was accepted; null if there is none."),
      }),
    },
    passes: ({ at, query }) => [at, { ...query, quarantineId: query.id }, query],
  }),
  // Releases the named operations, or all that match the filters, a few hundred per request.
  adminRoute("release_quarantined", "POST /projects/:project/quarantine/release", {
    summary: "Release operations from quarantine that are valid under the active version",
    body: filter,
    answers: {
      200: releasedOperations,
    },
    answer: async ({ at, body, call, credentials, ctx }) => {
      const kept = await call("list_quarantined_calls", at, body, body.cursor);
      const mapped =
        kept.length <= AT_ONCE_MAX
          ? mapKeptText(kept)
          : await largeBodies(ctx).run(credentials.organizationId, "mapKeptCalls", kept, (pieces) => ({ pieces }));
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
