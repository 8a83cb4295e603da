import Type, { type Static } from "typebox";
import * as calls from "../../../db/api/organization.js";
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
    expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: calls.TOKEN_EXPIRES_IN_DAYS_MAX })),
  },
  { additionalProperties: false },
);

/** The headless tokens of the organization, newest first, also those that stopped. */
export const listTokensRoute = adminRoute({
  operation: "list_tokens",
  method: "GET",
  path: "/organization/tokens",
  summary: "The headless tokens of the organization, newest first",
  query: pageQuery,
  answers: { 200: listOf(token) },
  answer: async ({ deps, credentials, query }) => ({
    status: 200,
    document: await calls.listTokens(deps.sql, credentials, query),
  }),
});

/** Makes a headless token that acts as whoever makes it. It is in this answer and nowhere else, ever. */
export const createTokenRoute = adminRoute({
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
  refusals: { 429: ["QUOTA_EXCEEDED"] },
  answer: async ({ deps, credentials, body: { label, role, expiresInDays } }) => {
    const accessToken = newAccessToken();
    const document = await calls.createToken(deps.sql, credentials, {
      label,
      role: role ?? null,
      expiresInDays: expiresInDays ?? calls.TOKEN_EXPIRES_IN_DAYS_MAX,
      hash: accessToken.hash,
    });
    const made = JSON.parse(document) as Static<typeof token>;
    return { status: 201, document: { ...made, accessToken: accessToken.text } };
  },
});

/** Revokes a headless token: it stops at once. Done again, it changes nothing. */
export const revokeTokenRoute = adminRoute({
  operation: "revoke_token",
  method: "DELETE",
  path: "/organization/tokens/:tokenId",
  summary: "Revoke a headless token; it stops at once",
  answers: { 200: token },
  refusals: { 404: ["TOKEN_NOT_FOUND"] },
  answer: async ({ deps, credentials, params }) => ({
    status: 200,
    document: await calls.revokeToken(deps.sql, credentials, params["tokenId"]!),
  }),
});
