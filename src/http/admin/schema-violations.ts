import Type from "typebox";
import * as calls from "../../db/calls-diagnostics.js";
import { listQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { count, exact, instant, listOf, orNull, version as versionName } from "./schemas-common.js";

const version = Type.Optional(
  Type.String({ pattern: "^v[1-9][0-9]{0,8}$", description: "must be a version such as v3" }),
);

const violations = listOf(
  exact(
    {
      configVersion: versionName,
      event: orNull(Type.String(), "Null for traits."),
      code: Type.String({ examples: ["UNKNOWN_PROPERTY"] }),
      path: Type.String({ examples: ["properties.amount"] }),
      operations: count,
      firstSeenAt: instant,
      lastSeenAt: instant,
      lastEventId: orNull(Type.String()),
      lastCustomerId: orNull(Type.String()),
    },
    { title: "SchemaViolation" },
  ),
);

/** How accepted operations violated a schema that was not strict: by version (the newest first), event, code and path. */
export const listSchemaViolations = adminRoute({
  operation: "list_schema_violations",
  method: "GET",
  path: "/projects/:project/schema-violations",
  summary: "How accepted operations violated a schema that was not strict",
  query: Type.Object({ ...listQuery.properties, version }, { additionalProperties: false }),
  answers: { 200: violations },
  answer: async ({ deps, credentials, params, query: { env, version: name, ...page } }) => {
    const place = placeIn(params, env);
    const number = name === undefined ? null : Number(name.slice(1));
    return {
      status: 200,
      document: await calls.listSchemaViolations(deps.sql, credentials, place, number, page),
    };
  },
});
