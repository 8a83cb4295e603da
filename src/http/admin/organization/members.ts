import Type from "typebox";
import * as calls from "../../../db/calls-organization.js";
import { KIB, pageQuery } from "../parameters.js";
import { adminRoute } from "../route.js";
import { instant, listOf, role } from "../schemas-common.js";
import { emailAddress } from "./schemas.js";

const member = Type.Object(
  { userId: Type.String(), email: emailAddress, role, createdAt: instant },
  { additionalProperties: false, title: "Member", description: "A user of the organization" },
);

/** The members of the organization by address. */
export const listMembers = adminRoute({
  operation: "list_members",
  method: "GET",
  path: "/organization/members",
  summary: "The members of the organization by address",
  query: pageQuery,
  answers: { 200: listOf(member) },
  answer: async ({ deps, credentials, query }) => ({
    status: 200,
    document: await calls.listMembers(deps.sql, credentials, query),
  }),
});

/** Gives a member another role. The last owner stays one. */
export const updateMember = adminRoute({
  operation: "update_member",
  method: "PATCH",
  path: "/organization/members/:userId",
  summary: "Give a member another role",
  body: { schema: Type.Object({ role }, { additionalProperties: false }), bytesMax: KIB },
  answers: { 200: member },
  refusals: { 404: ["MEMBER_NOT_FOUND"], 409: ["LAST_OWNER"] },
  answer: async ({ deps, credentials, params, body }) => ({
    status: 200,
    document: await calls.updateMember(deps.sql, credentials, params["userId"]!, body.role),
  }),
});

/** Ends a membership and the headless tokens that the user had here. The last owner stays. Answers the member as it was. */
export const removeMember = adminRoute({
  operation: "remove_member",
  method: "DELETE",
  path: "/organization/members/:userId",
  summary: "End a membership, and revoke the headless tokens that the user had for the organization",
  answers: { 200: member },
  refusals: { 404: ["MEMBER_NOT_FOUND"], 409: ["LAST_OWNER"] },
  answer: async ({ deps, credentials, params }) => ({
    status: 200,
    document: await calls.removeMember(deps.sql, credentials, params["userId"]!),
  }),
});
