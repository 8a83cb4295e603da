import { randomBytes } from "node:crypto";
import type { ISql } from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { hashCredential, newCredential } from "../../../src/http/request/credentials.js";
import { waitingForLock } from "../../support/locks.js";
import type { Actor } from "../../support/service.js";
import type { Browser } from "./browser.js";
import { refusalOf, useOAuthService } from "./fixture.js";

const service = useOAuthService();
let owner: Actor;
let browser: Browser;
beforeAll(async () => {
  owner = await service.owner("acme");
  browser = await service.browser(owner);
});

/** Decides like a person: opens the link, sees the request, decides. */
async function decide(userCode: string, decision: "approve" | "deny"): Promise<void> {
  await browser.get(`/device?user_code=${userCode}`);
  await browser.submit({ user_code: userCode });
  const done = await browser.submit({ user_code: userCode, decision });
  expect(done.status).toBe(200);
}

/** Sets the last poll back as if the interval had passed. */
async function waitOut(deviceCode: string): Promise<void> {
  await service.db.sql`
    update iam.device_authorizations set last_polled_at = last_polled_at - make_interval(secs => interval_seconds)
    where device_code_hash = ${hashCredential(deviceCode)}`;
}

/** The error that is answered instead of a token. */
const refusal = (error: string, description: string) => ({ status: 400, error, description });

async function expire(deviceCode: string): Promise<void> {
  await service.db.sql`
    update iam.device_authorizations set expires_at = now() where device_code_hash = ${hashCredential(deviceCode)}`;
}

const countTokens = async () => (await service.db.sql`select from iam.access_tokens`).length;

const PENDING = refusal("authorization_pending", "The sign-in is not approved yet. Ask again after the interval.");

describe("a device that was approved", () => {
  it("has to wait for it, then gets a token that is valid at once, in the user's organizations only", async () => {
    const asked = await service.ask();
    expect(await service.refused(asked.device_code)).toEqual(PENDING);
    await decide(asked.user_code, "approve");
    const token = await service.poll(asked.device_code);
    const [second, strangers] = [await service.owner("second"), await service.owner("strangers")];
    await service.db.sql`
      insert into iam.memberships (organization_id, user_id, role)
      select ${second.organizationId}, user_id, 'viewer' from iam.users where email = 'owner@acme.example'`;
    const whoami = (of: Actor) => service.request("GET", "/whoami", { by: { ...of, token: token.access_token } });
    for (const [of, slug, role] of [
      [owner, "acme", "owner"],
      [second, "second", "viewer"],
    ] as const) {
      const organization = { id: of.organizationId, slug, role };
      expect((await whoami(of)).body).toEqual({ user: { email: "owner@acme.example" }, organization });
    }
    expect((await whoami(strangers)).status).toBe(404);
  });

  it("gets one token, however often its code is redeemed at once", async () => {
    const asked = await service.ask();
    await decide(asked.user_code, "approve");
    const before = await countTokens();
    const polls = await Promise.allSettled(Array.from({ length: 20 }, () => service.poll(asked.device_code)));
    const refused = polls.filter((poll) => poll.status === "rejected");
    expect(polls.length - refused.length).toBe(1);
    expect(await countTokens()).toBe(before + 1);
    const description = "The device code was already redeemed; it can be exchanged for one token only.";
    for (const { reason } of refused)
      expect(await refusalOf(Promise.reject(reason as Error))).toEqual(refusal("invalid_grant", description));
  });

  it("gets an error once its codes have expired, approved or not", async () => {
    const [asked, approved] = [await service.ask(), await service.ask()];
    await decide(approved.user_code, "approve");
    for (const { device_code: deviceCode } of [asked, approved]) {
      await expire(deviceCode);
      const expired = refusal("expired_token", "The codes have expired. Begin the sign-in again.");
      expect(await service.refused(deviceCode)).toEqual(expired);
    }
  });
});

it("tells a device that it was denied, even after its codes have expired", async () => {
  const asked = await service.ask();
  await decide(asked.user_code, "deny");
  const denied = refusal("access_denied", "The sign-in was denied.");
  expect(await service.refused(asked.device_code)).toEqual(denied);
  await expire(asked.device_code);
  expect(await service.refused(asked.device_code)).toEqual(denied);
});

it("adds 5 seconds to a device's interval each time it polls too early", async () => {
  const { device_code: deviceCode } = await service.ask();
  const slowDown = (seconds: number) =>
    refusal("slow_down", `Polled too early. From now on wait ${seconds} s each time.`);
  expect(await service.refused(deviceCode)).toEqual(PENDING);
  expect(await service.refused(deviceCode)).toEqual(slowDown(10));
  expect(await service.refused(deviceCode)).toEqual(slowDown(15));
  await waitOut(deviceCode);
  expect(await service.refused(deviceCode)).toEqual(PENDING);
  const [row] = await service.db.sql<[{ seconds: number }]>`
    select interval_seconds as seconds from iam.device_authorizations where device_code_hash = ${hashCredential(deviceCode)}`;
  expect(row.seconds).toBe(15);
});

it("refuses a device code that is forged or another client's, which stays valid for that client", async () => {
  const unknown = refusal("invalid_grant", "The device code was not issued to this client. Begin the sign-in again.");
  for (const forged of ["svc_device_forged", "x", "ü".repeat(100), "\0"])
    expect(await service.refused(forged)).toEqual(unknown);
  const { device_code: deviceCode } = await service.ask();
  const rename = (clientId: string) => service.db.sql`
    update iam.device_authorizations set client_id = ${clientId} where device_code_hash = ${hashCredential(deviceCode)}`;
  await rename("another");
  expect(await service.refused(deviceCode)).toEqual(unknown);
  await rename("svc-cli");
  expect(await service.refused(deviceCode)).toEqual(PENDING);
});

/** Whether a token is valid; fails if it is neither valid nor refused as unknown. */
async function isValid(by: Actor): Promise<boolean> {
  const { status } = await service.request("GET", "/whoami", { by });
  expect([200, 401]).toContain(status);
  return status === 200;
}

describe("POST /oauth/revoke", () => {
  async function signInDevice(): Promise<Actor> {
    const { device_code: deviceCode, user_code: userCode } = await service.ask();
    await decide(userCode, "approve");
    return { ...owner, token: (await service.poll(deviceCode)).access_token };
  }

  it("revokes a token at once, and no other token of the user; a repetition keeps the instant, even of an expired token", async () => {
    const [ended, other] = [await signInDevice(), await signInDevice()];
    const hash = hashCredential(ended.token);
    const { sql } = service.db;
    const at = () => sql`select revoked_at from iam.access_tokens where token_hash = ${hash}`;
    await service.revoke(ended.token);
    const first = await at();
    expect([await isValid(ended), await isValid(other)]).toEqual([false, true]);
    await sql`update iam.access_tokens set expires_at = now() where token_hash = ${hash}`;
    await service.revoke(ended.token);
    expect(await at()).toEqual(first);
  });

  it("answers 200 for an unknown token", async () => {
    for (const token of ["svc_token_unknown", "x", "ü".repeat(100)]) {
      const fields = { client_id: "svc-cli", token, token_type_hint: "refresh_token" };
      expect(await service.form("/oauth/revoke", fields)).toMatchObject({ status: 200, body: undefined });
    }
  });

  it("refuses a token that no sign-in of the client created, and says that it stays valid", async () => {
    const { status, body } = await service.form("/oauth/revoke", { client_id: "svc-cli", token: owner.token });
    const description =
      "The token is not from a sign-in by this client, so it stays valid. An owner of its organization can revoke it.";
    expect([status, body]).toEqual([400, { error: "invalid_request", error_description: description }]);
    expect(await isValid(owner)).toBe(true);
  });
});

it("setting a new password revokes an approval in progress, and a token that is being redeemed", async () => {
  const { sql } = service.db;
  for (const redeems of [false, true]) {
    const asked = await service.ask();
    const deviceCode = hashCredential(asked.device_code);
    const [session, token, link] = [newCredential("session").hash, newCredential("token"), randomBytes(32)];
    await sql`
      with u as (select user_id, now() + interval '1 hour' as at from iam.users where email = 'owner@acme.example'),
        s as (insert into iam.sessions (session_hash, user_id, expires_at) select ${session}, user_id, at from u)
      insert into iam.password_links (link_hash, user_id, created_by, expires_at) select ${link}, user_id, 'operator', at from u`;
    const approve = (by: ISql) =>
      by`select svc_api.decide_device_authorization(${session}, ${asked.user_code.replace("-", "")}, true)`;
    if (redeems) await approve(sql);
    // Commits only once the setting of the password waits for it.
    const tx = await sql.reserve();
    await tx`begin`;
    if (redeems) {
      const [row] = await tx`select svc_api.redeem_device_code(${deviceCode}, 'svc-cli', ${token.hash}) as answer`;
      expect(row).toEqual({ answer: { status: "granted", expiresIn: 90 * 24 * 60 * 60 } });
    } else await approve(tx);
    const setting = sql`select svc_api.set_password(${link}, 'another hash')`.execute();
    await expect.poll(() => waitingForLock(sql)).toBeGreaterThan(0);
    await tx`commit`;
    tx.release();
    await setting;
    const [stored] = await sql`select status from iam.device_authorizations where device_code_hash = ${deviceCode}`;
    expect(stored).toEqual({ status: redeems ? "redeemed" : "denied" });
    expect(await isValid({ ...owner, token: token.text })).toBe(false);
  }
});
