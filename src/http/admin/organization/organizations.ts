import Type from "typebox";
import * as calls from "../../../db/calls-organization.js";
import { pageQuery } from "../parameters.js";
import { adminRoute } from "../route.js";
import { listOf, role } from "../schemas-common.js";

const organization = Type.Object(
  { id: Type.String(), slug: Type.String(), role },
  {
    additionalProperties: false,
    title: "Organization",
    description: "An organization, and what the token may do in it",
  },
);

/** The organizations that a token is good for: those of its user, or the one of a headless token. */
export const listOrganizations = adminRoute({
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
