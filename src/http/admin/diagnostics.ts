import Type from "typebox";
import * as calls from "../../db/api/monitoring.js";
import { getDiagnostics as askForDiagnostics } from "../../db/api/monitoring.js";
import { environmentQuery, listQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { count, exact, instant, jsonObject, listOf, orNull, version as versionName } from "./schemas-common.js";

const finding = exact(
  {
    code: Type.String({ description: "What was found; stable." }),
    severity: Type.Enum(["problem", "warning", "info"]),
    message: Type.String(),
    fix: Type.String({ description: "What to do about it." }),
    count: Type.Integer({ minimum: 0, description: "How much of it there is; of more than 10,000, that many." }),
    details: jsonObject("What helps to find it; depends on the code."),
  },
  { title: "Finding", description: "A common problem." },
);

/** The common problems of an environment, most severe first; empty where all is well. */
export const getDiagnosticsRoute = adminRoute({
  operation: "get_diagnostics",
  method: "GET",
  path: "/projects/:project/diagnostics",
  summary: "Common problems of configuration and data, most severe first",
  query: environmentQuery,
  answers: { 200: exact({ data: Type.Array(finding) }) },
  answer: async ({ deps, credentials, params, query }) => {
    const at = placeIn(params, query.env);
    return { status: 200, document: await askForDiagnostics(deps.sql, credentials, at) };
  },
});

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
export const listSchemaViolationsRoute = adminRoute({
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
