import * as calls from "../../db/calls-admin.js";
import { listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";

/** How accepted operations violated a schema that was not strict: by version (the newest first), event, code and path. */
export const listSchemaViolations = adminRoute({
  method: "GET",
  path: "/projects/:project/schema-violations",
  query: listQuery,
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = { project: params["project"]!, environment: env };
    return { status: 200, document: await calls.listSchemaViolations(deps.sql, credentials, place, page) };
  },
});
