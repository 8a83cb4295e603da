import Type from "typebox";
import { newCredential } from "../request/credentials.js";
import { adminRoute } from "./route.js";
import { exact, instant, listOf, named, orNull, describedText } from "./schemas.js";
import { displayName, emptyObject, graceSeconds, KIB, listQuery } from "./parameters.js";

const id = describedText("Id of the key.", "key_5d0c2b6e4f1a4c7f9b3e");

export const key = named("ApiKey", {
  id,
  name: Type.String(),
  hint: Type.String({ description: "The first characters of the key, enough to recognize it." }),
  status: Type.Enum(["active", "expiring", "revoked"], {
    description: "A key that was rotated is expiring until its grace period ends.",
  }),
  createdAt: instant,
  createdBy: Type.String({ description: "E-mail address of the user who created it." }),
  lastUsedAt: orNull(instant, "Null before its first use."),
  revokedAt: orNull(instant, "When it stops working; can be in the future."),
});

const secret = describedText("The key itself. It cannot be retrieved again.", "svc_test_…");

export const changedKey = named("ChangedApiKey", { key });

export const createdKey = named("CreatedApiKey", { key, secret });

export const rotatedKey = named("RotatedApiKey", {
  key,
  secret,
  replaced: exact({ id, revokedAt: instant }, { description: "The key that it replaces." }),
});

const newKey = exact({ name: displayName });
const rotation = exact({ grace: Type.Optional(Type.String({ default: "24h", examples: ["0m", "24h", "30d"] })) });

/** The keys of an environment. */
export const keyRoutes = [
  adminRoute("list_keys", "GET /projects/:project/keys", {
    summary: "List the keys of an environment, the newest first",
    query: listQuery,
    answers: { 200: listOf(key) },
  }),
  adminRoute("create_key", "POST /projects/:project/keys", {
    summary: "Create a key for an environment",
    body: { schema: newKey, bytesMax: 16 * KIB },
    answers: { 201: createdKey },
    answer: async ({ call, at, query, body }) => {
      const secret = newCredential(query.env);
      const key = await call("create_key", at, body.name, secret);
      return { key: JSON.parse(key) as object, secret: secret.text };
    },
  }),
  adminRoute("rotate_key", "POST /projects/:project/keys/:keyId/rotate", {
    summary: "Replace a key by a new one; the old one works until the grace period ends",
    body: { schema: rotation, bytesMax: KIB },
    answers: { 201: rotatedKey },
    refusals: { 409: ["KEY_REVOKED"] },
    answer: async ({ call, at, params, query, body }) => {
      const secret = newCredential(query.env);
      const grace = graceSeconds(body.grace ?? "24h", "30d", "0m ends the old key at once.");
      const document = await call("rotate_key", at, params["keyId"]!, grace, secret);
      const { key, replaced } = JSON.parse(document) as { key: object; replaced: object };
      return { key, secret: secret.text, replaced };
    },
  }),
  adminRoute("revoke_key", "POST /projects/:project/keys/:keyId/revoke", {
    summary: "Revoke a key, which stops working at once",
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 200: changedKey },
    answer: async ({ call, at, params }) => ({
      key: JSON.parse(await call("revoke_key", at, params["keyId"]!)) as object,
    }),
  }),
];
