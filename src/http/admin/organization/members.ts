import Type from "typebox";
import { KIB, pageQuery } from "../parameters.js";
import { adminRoute } from "../route.js";
import { instant, listOf, role } from "../schemas-common.js";

/** Neither what separates, quotes or comments addresses in a mail's header, nor what cannot be seen. */
const ADDRESS_PART =
  '[^\\s@"(),:;<>\\[\\]\\\\\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]+';

/** Where mail goes: one address and nothing else. */
export const emailAddress = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: `^${ADDRESS_PART}@${ADDRESS_PART}$`,
  description: "must be one e-mail address, for example ada@example.com",
});

/** Whether the mail server took the link; false also where no mail is set up. */
export const mailed = Type.Boolean();

const member = Type.Object(
  { userId: Type.String(), email: emailAddress, role, createdAt: instant },
  { additionalProperties: false, title: "Member", description: "A user of the organization" },
);

/** The members of the organization. */
export const memberRoutes = [
  adminRoute({
    operation: "list_members",
    method: "GET",
    path: "/organization/members",
    summary: "The members of the organization by address",
    query: pageQuery,
    answers: { 200: listOf(member) },
    passes: ({ query }) => [query],
  }),
  adminRoute({
    operation: "update_member",
    method: "PATCH",
    path: "/organization/members/:userId",
    summary: "Give a member another role",
    body: { schema: Type.Object({ role }, { additionalProperties: false }), bytesMax: KIB },
    answers: { 200: member },
    refusals: { 404: ["MEMBER_NOT_FOUND"], 409: ["LAST_OWNER"] },
    passes: ({ params, body }) => [params["userId"]!, body.role],
  }),
  // The last owner stays. Answers the member as it was.
  adminRoute({
    operation: "remove_member",
    method: "DELETE",
    path: "/organization/members/:userId",
    summary: "End a membership, and revoke the headless tokens that the user had for the organization",
    answers: { 200: member },
    refusals: { 404: ["MEMBER_NOT_FOUND"], 409: ["LAST_OWNER"] },
    passes: ({ params }) => [params["userId"]!],
  }),
];
