import Type from "typebox";
import { adminRoute } from "./route.js";
import { count, countOf, exact, instant, jsonObject, listOf, named, orNull, versionName } from "./schemas.js";
import { listQuery, versionAsked } from "./parameters.js";

export const finding = named("Finding", "A common problem.", {
  code: Type.String({ description: "What was found; stable." }),
  severity: Type.Enum(["problem", "warning", "info"]),
  message: Type.String(),
  fix: Type.String({ description: "What to do about it." }),
  count: countOf("How much of it there is; of more than 10,000, that many."),
  details: jsonObject("What helps to find it; depends on the code."),
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

/** What is wrong with configuration or data. */
export const diagnosticsRoutes = [
  // By version (the newest first), event, code and path.
  adminRoute("list_schema_violations", "GET /projects/:project/schema-violations", {
    summary: "How accepted operations violated a schema that was not strict",
    query: exact({ ...listQuery.properties, version: Type.Optional(versionAsked) }),
    answers: { 200: listOf(violation) },
    passes: ({ at, query }) => [at, query.version === undefined ? null : Number(query.version.slice(1)), query],
  }),
  // Empty where all is well.
  adminRoute("get_diagnostics", "GET /projects/:project/diagnostics", {
    summary: "Common problems of configuration and data, most severe first",
    answers: { 200: exact({ data: Type.Array(finding) }) },
  }),
];
