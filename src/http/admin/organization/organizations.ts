import Type from "typebox";
import { call } from "../../../db/api/call.js";
import { pageQuery } from "../parameters.js";
import { adminRoute } from "../route.js";
import { exact, listOf, role } from "../schemas-common.js";

export const organization = Type.Object(
  { id: Type.String(), slug: Type.String(), role },
  {
    additionalProperties: false,
    title: "Organization",
    description: "An organization, and what the token may do in it",
  },
);

const answer = exact(
  {
    user: exact({ email: Type.String() }),
    organization: exact({ id: Type.String(), slug: Type.String(), role }),
  },
  { title: "Actor" },
);

/** Who acts, and for whom. */
export const organizationRoutes = [
  adminRoute({
    operation: "whoami",
    method: "GET",
    path: "/whoami",
    summary: "Who acts, and for whom",
    answers: { 200: answer },
    passes: () => [],
  }),
  // Those of its user, or the one of a headless token.
  adminRoute({
    operation: "list_organizations",
    organization: false,
    method: "GET",
    path: "/organizations",
    summary: "The organizations that the token is good for, by slug",
    query: pageQuery,
    answers: { 200: listOf(organization) },
    answer: async ({ deps, credentials, query }) => ({
      status: 200,
      document: await call(deps.sql, "list_organizations", credentials.tokenHash, query),
    }),
  }),
];
