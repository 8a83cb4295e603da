import Type, { type Static } from "typebox";
import { TOKEN_EXPIRES_IN_DAYS_MAX } from "../../../db/api/organization.js";
import { newAccessToken } from "../../request/credentials.js";
import { displayName, KIB, pageQuery } from "../parameters.js";
import { adminRoute } from "../route.js";
import { instant, listOf, orNull, role } from "../schemas-common.js";

const user = Type.Object({ id: Type.String(), email: Type.String() }, { additionalProperties: false });
const members = {
  id: Type.String(),
  label: Type.String(),
  /** The most it may do; null: all that its user may. */
  role: orNull(role),
  user,
  createdAt: instant,
  expiresAt: instant,
  lastUsedAt: orNull(instant),
  revokedAt: orNull(instant),
};
const token = Type.Object(members, {
  additionalProperties: false,
  title: "AccessToken",
  description: "A headless token without the token",
});

const newToken = Type.Object(
  {
    label: displayName,
    role: Type.Optional(role),
    expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: TOKEN_EXPIRES_IN_DAYS_MAX })),
  },
  { additionalProperties: false },
);

/** The headless tokens of the organization, also those that stopped. */
export const tokenRoutes = [
  adminRoute({
    operation: "list_tokens",
    method: "GET",
    path: "/organization/tokens",
    summary: "The headless tokens of the organization, newest first",
    query: pageQuery,
    answers: { 200: listOf(token) },
    passes: ({ query }) => [query],
  }),
  // It acts as whoever makes it. It is in this answer and nowhere else, ever.
  adminRoute({
    operation: "create_token",
    method: "POST",
    path: "/organization/tokens",
    summary: "Make a headless token that acts as you in this organization, with your role or a lesser one",
    body: { schema: newToken, bytesMax: 4 * KIB },
    answers: {
      201: Type.Object(
        { ...members, accessToken: Type.String() },
        { additionalProperties: false, title: "CreatedAccessToken" },
      ),
    },
    answer: async ({ call, body: { label, role, expiresInDays = TOKEN_EXPIRES_IN_DAYS_MAX } }) => {
      const accessToken = newAccessToken();
      const document = await call("create_token", label, role, expiresInDays, accessToken.hash);
      const made = JSON.parse(document) as Static<typeof token>;
      return { status: 201, document: { ...made, accessToken: accessToken.text } };
    },
  }),
  // Done again, it changes nothing.
  adminRoute({
    operation: "revoke_token",
    method: "DELETE",
    path: "/organization/tokens/:tokenId",
    summary: "Revoke a headless token; it stops at once",
    answers: { 200: token },
    refusals: { 404: ["TOKEN_NOT_FOUND"] },
    passes: ({ params }) => [params["tokenId"]!],
  }),
];
