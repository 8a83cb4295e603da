import { randomBytes } from "node:crypto";
import type { ReservedSql } from "postgres";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hashCredential, newAccessToken, newSession } from "../../../src/http/request/credentials.js";
import { waitingForLock } from "../../support/locks.js";
import { type Actor, envelope } from "../../support/service.js";
import type { Browser } from "./browser.js";
import { refusalOf, useOAuthService } from "./fixture.js";

const service = useOAuthService();
let owner: Actor;
let browser: Browser;
beforeAll(async () => {
  owner = await service.owner("acme");
  browser = await service.browser(owner);
});

/** As a person does it: opens the link, sees what asks, decides. */
async function decide(userCode: string, decision: "approve" | "deny"): Promise<void> {
  await browser.get(`/device?user_code=${userCode}`);
  await browser.submit("/device", { user_code: userCode });
  const done = await browser.submit("/device", { user_code: userCode, decision });
  expect(done.status).toBe(200);
}

/** Lets the time since the last poll pass. */
async function waitOut(deviceCode: string): Promise<void> {
  await service.db.sql`
    update iam.device_authorizations set last_polled_at = last_polled_at - make_interval(secs => interval_seconds)
    where device_code_hash = ${hashCredential(deviceCode)}`;
}

/** What is answered instead of a token. */
const refusal = (error: string, description: string) => ({ status: 400, error, description });

const REDEEMED = refusal("invalid_grant", "The device code was redeemed already; it is good for one token.");

async function expire(deviceCode: string): Promise<void> {
  await service.db.sql`
    update iam.device_authorizations set expires_at = now() where device_code_hash = ${hashCredential(deviceCode)}`;
}

async function tokensOf(deviceAddress = "svc on 127.0.0.1"): Promise<number> {
  const [row] = await service.db.sql<[{ count: number }]>`
    select count(*)::integer as count from iam.access_tokens where label = ${deviceAddress}`;
  return row.count;
}

const PENDING = refusal("authorization_pending", "Nobody has decided yet. Ask again after the interval.");

describe("a device that asks", () => {
  it("is given both codes, the page's address and its times", async () => {
    const asked = await service.ask();
    expect(asked).toEqual({
      device_code: expect.stringMatching(/^svc_device_[0-9a-f]{48}$/) as string,
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
      verification_uri: `${service.url}/device`,
      verification_uri_complete: `${service.url}/device?user_code=${asked.user_code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  it("leaves only the hash of its code in the database", async () => {
    const { device_code: deviceCode } = await service.ask();
    const rows = await service.db.sql<{ text: string }[]>`select d::text as text from iam.device_authorizations as d`;
    expect(rows.some(({ text }) => text.includes(deviceCode))).toBe(false);
    expect(rows.some(({ text }) => text.includes(hashCredential(deviceCode).toString("hex")))).toBe(true);
  });
});

describe("a device that was approved", () => {
  it("waits until then, and gets a token that is good in all organizations of the user", async () => {
    const asked = await service.ask();
    expect(await service.refused(asked.device_code)).toEqual(PENDING);
    await decide(asked.user_code, "approve");
    const token = await service.poll(asked.device_code);
    expect(token).toEqual({
      access_token: expect.stringMatching(/^svc_token_[0-9a-f]{48}$/) as string,
      token_type: "bearer",
      expires_in: 90 * 24 * 60 * 60,
    });

    const second = await service.owner("second");
    await service.db.sql`
      insert into iam.memberships (organization_id, user_id, role)
      select ${second.organizationId}, user_id, 'viewer' from iam.users where email = 'owner@acme.example'`;
    for (const [organizationId, slug, role] of [
      [owner.organizationId, "acme", "owner"],
      [second.organizationId, "second", "viewer"],
    ] as const) {
      const reply = await service.request("GET", "/whoami", { by: { token: token.access_token, organizationId } });
      expect(reply.body).toEqual({
        user: { email: "owner@acme.example" },
        organization: { id: organizationId, slug, role },
      });
    }
  });

  it("gets a token that is not good in an organization of others", async () => {
    const asked = await service.ask();
    await decide(asked.user_code, "approve");
    const { access_token: token } = await service.poll(asked.device_code);
    const { organizationId } = await service.owner("strangers");
    const reply = await service.request("GET", "/whoami", { by: { token, organizationId } });
    expect(reply.status).toBe(404);
  });

  it("gets its token although it asks too early: only waiting has to be slow", async () => {
    const asked = await service.ask();
    await service.refused(asked.device_code);
    await decide(asked.user_code, "approve");
    expect(await service.poll(asked.device_code)).toHaveProperty("access_token");
  });

  it("gets one token, however many redeem its code at once", async () => {
    const asked = await service.ask();
    await decide(asked.user_code, "approve");
    const before = await tokensOf();
    const polls = await Promise.allSettled(Array.from({ length: 20 }, () => service.poll(asked.device_code)));
    const refused = polls.filter((poll) => poll.status === "rejected");
    expect(polls.length - refused.length).toBe(1);
    expect(await tokensOf()).toBe(before + 1);
    for (const { reason } of refused) {
      expect(await refusalOf(Promise.reject(reason as Error))).toEqual(REDEEMED);
    }
  });

  it("gets none a second time", async () => {
    const asked = await service.ask();
    await decide(asked.user_code, "approve");
    await service.poll(asked.device_code);
    expect(await service.refused(asked.device_code)).toEqual(REDEEMED);
  });

  it("gets none after its codes have expired", async () => {
    const asked = await service.ask();
    await decide(asked.user_code, "approve");
    await expire(asked.device_code);
    expect((await service.refused(asked.device_code)).error).toBe("expired_token");
  });
});

it("tells a device that it was denied, also when its codes have expired since", async () => {
  const asked = await service.ask();
  await decide(asked.user_code, "deny");
  const denied = refusal("access_denied", "The sign-in was denied.");
  expect(await service.refused(asked.device_code)).toEqual(denied);
  await expire(asked.device_code);
  expect(await service.refused(asked.device_code)).toEqual(denied);
});

it("tells a device that its codes have expired", async () => {
  const asked = await service.ask();
  await expire(asked.device_code);
  expect(await service.refused(asked.device_code)).toEqual(
    refusal("expired_token", "The codes have expired. Begin the sign-in again."),
  );
});

it("makes a device that polls too early wait 5 seconds longer each time, from then on", async () => {
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

describe("a device code", () => {
  const unknown = refusal("invalid_grant", "The device code was not issued to this client. Begin the sign-in again.");

  it.each(["svc_device_forged", "x", "ü".repeat(100), "\0"])("that is forged is refused: %j", async (deviceCode) => {
    expect(await service.refused(deviceCode)).toEqual(unknown);
  });

  it("is not its user code", async () => {
    const asked = await service.ask();
    expect(await service.refused(asked.user_code)).toEqual(unknown);
  });

  it("of another client is refused, and stays good for that one", async () => {
    const asked = await service.ask();
    const rename = (clientId: string) => service.db.sql`
      update iam.device_authorizations set client_id = ${clientId} where device_code_hash = ${hashCredential(asked.device_code)}`;
    await rename("another");
    expect(await service.refused(asked.device_code)).toEqual(unknown);
    await rename("svc-cli");
    expect(await service.refused(asked.device_code)).toEqual(PENDING);
  });
});

describe("POST /oauth/revoke", () => {
  async function signInDevice(): Promise<Actor> {
    const { device_code: deviceCode, user_code: userCode } = await service.ask();
    await decide(userCode, "approve");
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
    expect(reply.body).toEqual(
      envelope("INVALID_SESSION", "The access token is missing, unknown, expired or revoked."),
    );
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
    const reply = await service.form("/oauth/revoke", {
      client_id: "svc-cli",
      token,
      token_type_hint: "refresh_token",
    });
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
});

describe("a password that is set anew", () => {
  /** The device, its user's browser session, and a link to set another password. */
  let deviceCode: Buffer;
  let userCode: string;
  let session: Buffer;
  let link: Buffer;
  beforeEach(async () => {
    const asked = await service.ask();
    deviceCode = hashCredential(asked.device_code);
    userCode = asked.user_code.replace("-", "");
    session = newSession().hash;
    link = randomBytes(32);
    const { sql } = service.db;
    await sql`
    insert into iam.sessions (session_hash, user_id, expires_at)
    select ${session}, user_id, now() + interval '1 hour' from iam.users where email = 'owner@acme.example'`;
    await sql`
    insert into iam.password_links (link_hash, user_id, created_by, expires_at)
    select ${link}, user_id, 'operator', now() + interval '1 hour' from iam.users where email = 'owner@acme.example'`;
  });

  /** Does something, and does not commit it before the password is being set anew and has to wait. */
  async function whilePasswordIsSet(work: (tx: ReservedSql) => Promise<void>): Promise<void> {
    const tx = await service.db.sql.reserve();
    try {
      await tx`begin`;
      await work(tx);
      const setting = service.db.sql`select svc_api.set_password(${link}, 'another hash')`.execute();
      await expect.poll(() => waitingForLock(service.db.sql)).toBeGreaterThan(0);
      await tx`commit`;
      await setting;
    } finally {
      tx.release();
    }
  }

  async function storedStatus(): Promise<string> {
    const [row] = await service.db.sql<[{ status: string }]>`
    select status from iam.device_authorizations where device_code_hash = ${deviceCode}`;
    return row.status;
  }

  it("takes back an approval that is being given", async () => {
    await whilePasswordIsSet(async (tx) => {
      await tx`select svc_api.decide_device_authorization(${session}, ${userCode}, true)`;
    });
    expect(await storedStatus()).toBe("denied");
  });

  it("ends a token that is being fetched", async () => {
    await service.db.sql`select svc_api.decide_device_authorization(${session}, ${userCode}, true)`;
    const token = newAccessToken();
    await whilePasswordIsSet(async (tx) => {
      const [row] = await tx<[{ answer: object }]>`
        select svc_api.redeem_device_code(${deviceCode}, 'svc-cli', ${token.hash}) as answer`;
      expect(row.answer).toEqual({ status: "granted", expiresIn: 90 * 24 * 60 * 60 });
    });
    expect(await storedStatus()).toBe("redeemed");
    const reply = await service.request("GET", "/whoami", { by: { ...owner, token: token.text } });
    expect(reply.status).toBe(401);
  });
});
