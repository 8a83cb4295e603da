import { whoami as callWhoami } from "../../db/calls-admin.js";
import { adminRoute } from "./route.js";

/** Who acts, and for whom. */
export const whoami = adminRoute({
  operation: "whoami",
  method: "GET",
  path: "/whoami",
  summary: "Who acts, and for whom",
  answer: async ({ deps, credentials }) => ({ status: 200, document: await callWhoami(deps.sql, credentials) }),
});
