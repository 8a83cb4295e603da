import Type from "typebox";
import { adminRoute } from "./route.js";
import { count, countOf, exact, instant, jsonObject, listOf, named, orNull, versionName } from "./schemas.js";
import { listQuery, requestedVersion } from "./parameters.js";

export const finding = named("Finding", "A common problem.", {
  code: Type.String({ description: "The kind of problem. Stable." }),
  severity: Type.Enum(["problem", "warning", "info"]),
  message: Type.String(),
  fix: Type.String({ description: "What to do about it." }),
  count: countOf("Number of occurrences, counted up to 10,000."),
  details: jsonObject("Data that helps to find the problem; depends on the code."),
});

export const violation = named("SchemaViolation", {
  configVersion: versionName,
  event: orNull(Type.String(), "Null for traits."),
  code: Type.String({ examples: ["UNKNOWN_PROPERTY"] }),
  path: Type.String({ examples: ["properties.amount"] }),
  operations: count,
  firstSeenAt: instant,
  lastSeenAt: instant,
  lastEventId: orNull(Type.String()),
  lastCustomerId: orNull(Type.String()),
});

/** Problems of configuration or data. */
export const diagnosticsRoutes = [
  // By version (the newest first), event, code and path.
  adminRoute("list_schema_violations", "GET /projects/:project/schema-violations", {
    summary: "List how accepted operations violated a schema that was not strict",
    query: exact({ ...listQuery.properties, version: Type.Optional(requestedVersion) }),
    answers: { 200: listOf(violation) },
    passes: ({ at, query }) => [at, query.version === undefined ? null : Number(query.version.slice(1)), query],
  }),
  // Empty if there are no problems.
  adminRoute("get_diagnostics", "GET /projects/:project/diagnostics", {
    summary: "List common problems of configuration and data, the most severe first",
    answers: { 200: exact({ data: Type.Array(finding) }) },
  }),
];
