import { afterAll, beforeAll, expect, it } from "vitest";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { envelope, type Actor } from "../../support/service.js";
import { startOAuthService, type OAuthService } from "./fixture.js";

let service: OAuthService;
let owner: Actor;
beforeAll(async () => {
  service = await startOAuthService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

async function signInDevice(): Promise<Actor> {
  const { device_code: deviceCode, user_code: userCode } = await service.ask();
  const browser = await service.browser(owner);
  await browser.get("/device");
  await browser.submit("/device", { user_code: userCode, decision: "approve" });
  return { ...owner, token: (await service.poll(deviceCode)).access_token };
}

async function isGood(by: Actor): Promise<boolean> {
  return (await service.request("GET", "/whoami", { by })).status === 200;
}

it("ends a token at once, and other tokens of the user go on", async () => {
  const ended = await signInDevice();
  const other = await signInDevice();
  await service.revoke(ended.token);
  const reply = await service.request("GET", "/whoami", { by: ended });
  expect(reply.status).toBe(401);
  expect(reply.body).toEqual(envelope("INVALID_SESSION", "The access token is missing, unknown, expired or revoked."));
  expect(await isGood(other)).toBe(true);
});

it("keeps the instant of the first time", async () => {
  const { token } = await signInDevice();
  const at = async () => {
    const [row] = await service.db.sql<[{ at: Date }]>`
      select revoked_at as at from iam.access_tokens where token_hash = ${hashCredential(token)}`;
    return row.at;
  };
  await service.revoke(token);
  const first = await at();
  await service.revoke(token);
  expect(await at()).toEqual(first);
});

it.each(["svc_token_unknown", "x", "ü".repeat(100)])("answers 200 for a token that nobody has: %j", async (token) => {
  const reply = await service.form("/oauth/revoke", { client_id: "svc-cli", token, token_type_hint: "refresh_token" });
  expect(reply).toMatchObject({ status: 200, body: undefined });
});

it("answers 200 for a token that has expired", async () => {
  const { token } = await signInDevice();
  await service.db.sql`update iam.access_tokens set expires_at = now() where token_hash = ${hashCredential(token)}`;
  await service.revoke(token);
});

it("refuses a token that no sign-in of the client made, and says that it stays good", async () => {
  const reply = await service.form("/oauth/revoke", { client_id: "svc-cli", token: owner.token });
  expect(reply.status).toBe(400);
  expect(reply.body).toEqual({
    error: "invalid_request",
    error_description:
      "The token was not made by a sign-in of this client, so it stays good. An owner of its organization can revoke it.",
  });
  expect(await isGood(owner)).toBe(true);
});
