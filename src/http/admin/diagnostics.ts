import Type from "typebox";
import { getDiagnostics as askForDiagnostics } from "../../db/calls-diagnostics.js";
import { environmentQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, jsonObject } from "./schemas-common.js";

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
export const getDiagnostics = adminRoute({
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
