import Type from "typebox";
import * as calls from "../../db/api/customers.js";
import { listQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { count, exact, instant, jsonObject, listOf, orNull } from "./schemas-common.js";

const counts = (description: string) => Type.Object({}, { additionalProperties: count, description });

const statistics = exact(
  {
    lifecycle: counts("Members by lifecycle state."),
    health: exact({
      scored: Type.Integer({ minimum: 0, description: "Members with a health score." }),
      average: orNull(Type.Number({ minimum: 0, maximum: 100 })),
      bands: counts("Members by health band."),
    }),
    lastEvent: exact({ within1d: count, within7d: count, within30d: count, older: count, never: count }),
    enteredWithin7d: count,
  },
  { title: "SegmentStatistics", description: "Of all members; on the first page." },
);

const segmentMembers = listOf(exact({ customerId: Type.String(), enteredAt: instant }, { title: "SegmentMember" }), {
  segment: Type.String(),
  members: Type.Integer({ minimum: 0, description: "How many customers are in it now." }),
  definition: Type.Optional(
    orNull(
      jsonObject("As in the snapshot of the active version; without `when`, rules fill it."),
      "On the first page; null where the active version does not define it.",
    ),
  ),
  statistics: Type.Optional(statistics),
});

/** A segment's size, its definition and statistics of its members on the first page, and its members in the order of their ids. */
export const getSegmentRoute = adminRoute({
  operation: "get_segment",
  method: "GET",
  path: "/projects/:project/segments/:segment",
  summary: "A segment and a page of its members",
  query: listQuery,
  answers: { 200: segmentMembers },
  refusals: { 404: ["SEGMENT_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = placeIn(params, env);
    return { status: 200, document: await calls.getSegment(deps.sql, credentials, place, params["segment"]!, page) };
  },
});
