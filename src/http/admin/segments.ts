import * as calls from "../../db/calls-admin.js";
import { listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";

/** A segment's size and its members in the order of their ids. */
export const getSegment = adminRoute({
  operation: "get_segment",
  method: "GET",
  path: "/projects/:project/segments/:segment",
  summary: "A segment and a page of its members",
  query: listQuery,
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = { project: params["project"]!, environment: env };
    return { status: 200, document: await calls.getSegment(deps.sql, credentials, place, params["segment"]!, page) };
  },
});
