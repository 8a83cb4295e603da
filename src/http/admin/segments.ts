import * as calls from "../../db/calls-admin.js";
import { listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";

/** A segment's size and its members in the order of their ids. */
export const getSegment = adminRoute({
  method: "GET",
  path: "/projects/:project/segments/:segment",
  query: listQuery,
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = { project: params["project"]!, environment: env };
    return { status: 200, document: await calls.getSegment(deps.sql, credentials, place, params["segment"]!, page) };
  },
});
