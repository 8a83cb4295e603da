import Type from "typebox";
import { whoami as callWhoami } from "../../db/calls-admin.js";
import { adminRoute } from "./route.js";
import { exact, role } from "./schemas-common.js";

const answer = exact(
  {
    user: exact({ email: Type.String() }),
    organization: exact({ id: Type.String(), slug: Type.String(), role }),
  },
  { title: "Actor" },
);

/** Who acts, and for whom. */
export const whoami = adminRoute({
  operation: "whoami",
  method: "GET",
  path: "/whoami",
  summary: "Who acts, and for whom",
  answers: { 200: answer },
  answer: async ({ deps, credentials }) => ({ status: 200, document: await callWhoami(deps.sql, credentials) }),
});
