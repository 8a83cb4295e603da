import { randomBytes } from "node:crypto";
import type { ReservedSql } from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hashCredential, newAccessToken, newSession } from "../../../src/http/request/credentials.js";
import type { Actor } from "../../support/service.js";
import { startOAuthService, type OAuthService } from "./fixture.js";
import { waitingForLock } from "../../support/locks.js";

let service: OAuthService;
let owner: Actor;
beforeAll(async () => {
  service = await startOAuthService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

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
    select ${session}, user_id, now() + interval '1 hour' from iam.users`;
  await sql`
    insert into iam.password_links (link_hash, user_id, created_by, expires_at)
    select ${link}, user_id, 'operator', now() + interval '1 hour' from iam.users`;
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

async function stored(): Promise<string> {
  const [row] = await service.db.sql<[{ status: string }]>`
    select status from iam.device_authorizations where device_code_hash = ${deviceCode}`;
  return row.status;
}

describe("a password that is set anew", () => {
  it("takes back an approval that is being given", async () => {
    await whilePasswordIsSet(async (tx) => {
      await tx`select svc_api.decide_device_authorization(${session}, ${userCode}, true)`;
    });
    expect(await stored()).toBe("denied");
  });

  it("ends a token that is being fetched", async () => {
    await service.db.sql`select svc_api.decide_device_authorization(${session}, ${userCode}, true)`;
    const token = newAccessToken();
    await whilePasswordIsSet(async (tx) => {
      const [row] = await tx<[{ answer: object }]>`
        select svc_api.redeem_device_code(${deviceCode}, 'svc-cli', ${token.hash}) as answer`;
      expect(row.answer).toEqual({ status: "granted", expiresIn: 90 * 24 * 60 * 60 });
    });
    expect(await stored()).toBe("redeemed");
    const reply = await service.request("GET", "/whoami", { by: { ...owner, token: token.text } });
    expect(reply.status).toBe(401);
  });
});
