import Type from "typebox";
import { adminRoute } from "./route.js";
import { count, exact, instant, jsonObject, listOf, mapOf, named, orNull } from "./schemas.js";
import { listQuery } from "./parameters.js";

const counts = (description: string) => mapOf(count, description);

export const statistics = named("SegmentStatistics", "Of all members; on the first page.", {
  lifecycle: counts("Members by lifecycle state."),
  health: exact({
    scored: Type.Integer({ minimum: 0, description: "Members with a health score." }),
    average: orNull(Type.Number({ minimum: 0, maximum: 100 })),
    bands: counts("Members by health band."),
  }),
  lastEvent: exact({ within1d: count, within7d: count, within30d: count, older: count, never: count }),
  enteredWithin7d: count,
});

export const segmentMember = named("SegmentMember", { customerId: Type.String(), enteredAt: instant });

const segmentMembers = listOf(segmentMember, {
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

/** A segment and its members. */
export const segmentRoutes = [
  adminRoute({
    operation: "get_segment",
    route: "GET /projects/:project/segments/:segment",
    summary: "A segment and a page of its members",
    query: listQuery,
    answers: { 200: segmentMembers },
    passes: ({ at, params, query }) => [at, params["segment"]!, query],
  }),
];
