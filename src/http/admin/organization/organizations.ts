import Type from "typebox";
import { whoami as callWhoami } from "../../../db/api/access.js";
import * as calls from "../../../db/api/organization.js";
import { pageQuery } from "../parameters.js";
import { adminRoute } from "../route.js";
import { exact, listOf, role } from "../schemas-common.js";

const organization = Type.Object(
  { id: Type.String(), slug: Type.String(), role },
  {
    additionalProperties: false,
    title: "Organization",
    description: "An organization, and what the token may do in it",
  },
);

/** The organizations that a token is good for: those of its user, or the one of a headless token. */
export const listOrganizationsRoute = adminRoute({
  operation: "list_organizations",
  organization: false,
  method: "GET",
  path: "/organizations",
  summary: "The organizations that the token is good for, by slug",
  query: pageQuery,
  answers: { 200: listOf(organization) },
  answer: async ({ deps, credentials, query }) => ({
    status: 200,
    document: await calls.listOrganizations(deps.sql, credentials.tokenHash, query),
  }),
});

const answer = exact(
  {
    user: exact({ email: Type.String() }),
    organization: exact({ id: Type.String(), slug: Type.String(), role }),
  },
  { title: "Actor" },
);

/** Who acts, and for whom. */
export const whoamiRoute = adminRoute({
  operation: "whoami",
  method: "GET",
  path: "/whoami",
  summary: "Who acts, and for whom",
  answers: { 200: answer },
  answer: async ({ deps, credentials }) => ({ status: 200, document: await callWhoami(deps.sql, credentials) }),
});
