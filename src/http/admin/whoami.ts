import { whoami as callWhoami } from "../../db/calls-admin.js";
import { adminRoute } from "./route.js";

/** Who acts, and for whom. */
export const whoami = adminRoute({
  method: "GET",
  path: "/whoami",
  answer: async ({ deps, credentials }) => ({ status: 200, document: await callWhoami(deps.sql, credentials) }),
});
