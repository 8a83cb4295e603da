import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUserCode, showUserCode } from "../../../src/http/oauth/device-authorization.js";
import { startOAuthService, type OAuthService } from "./fixture.js";

let service: OAuthService;
beforeAll(async () => {
  service = await startOAuthService();
});
afterAll(() => service.stop());

describe("devices that ask from one address", () => {
  const ask = () => service.form("/oauth/device_authorization", { client_id: "svc-cli" });
  /** As if so many had asked at this instant. */
  const asked = (count: number) => service.db.sql`
    update iam.throttles set full_at = clock_timestamp() + make_interval(secs => ${count})`;

  it("are sixty at once", async () => {
    await ask();
    await asked(59);
    expect((await ask()).status).toBe(200);
  });

  it("are refused beyond that, and told when to come again", async () => {
    await ask();
    await asked(62);
    const reply = await ask();
    expect(reply.status).toBe(429);
    expect(reply.headers.get("Retry-After")).toBe("3");
    expect(reply.body).toEqual({
      error: "temporarily_unavailable",
      error_description: "Too many sign-ins were begun from here. Wait 3 s.",
    });
  });
});

describe("a user who tries codes", () => {
  const wrong = () => showUserCode(newUserCode());

  it("has ten guesses; then the right code is not looked up either, and nobody else is kept waiting", async () => {
    const browser = await service.browser(await service.owner("guesses"));
    const other = await service.browser(await service.owner("waits-for-nobody"));
    await service.db.sql`delete from iam.throttles`;
    const { user_code: right } = await service.ask();
    await browser.get("/device");
    for (let guess = 1; guess <= 10; guess++) {
      expect((await browser.submit("/device", { user_code: wrong() })).status).toBe(404);
    }
    for (const fields of [
      { user_code: wrong() },
      { user_code: right },
      { user_code: right, decision: "approve" },
      { user_code: wrong(), decision: "deny" },
    ]) {
      const page = await browser.submit("/device", fields);
      expect(page.status).toBe(429);
      expect(Number(page.headers.get("Retry-After"))).toBeGreaterThan(0);
      expect(Number(page.headers.get("Retry-After"))).toBeLessThanOrEqual(60);
      expect(page.text).toContain("Too many wrong codes were sent from your account. Wait ");
    }
    await other.get("/device");
    expect((await other.submit("/device", { user_code: right })).text).toContain("Approve this device?");
  });

  it("guesses with decisions too", async () => {
    const browser = await service.browser(await service.owner("decides"));
    await browser.get("/device");
    for (let guess = 1; guess <= 10; guess++) {
      expect((await browser.submit("/device", { user_code: wrong(), decision: "approve" })).status).toBe(404);
    }
    expect((await browser.submit("/device", { user_code: wrong(), decision: "approve" })).status).toBe(429);
  });

  it("may look at the right code as often as wanted", async () => {
    const browser = await service.browser(await service.owner("looks"));
    await service.db.sql`delete from iam.throttles`;
    const { user_code: right } = await service.ask();
    await browser.get("/device");
    for (let look = 1; look <= 12; look++) {
      expect((await browser.submit("/device", { user_code: right })).status).toBe(200);
    }
  });

  it("has no more guesses at once than one by one", async () => {
    const browser = await service.browser(await service.owner("at-once"));
    await browser.get("/device");
    const pages = await Promise.all(
      Array.from({ length: 15 }, () => browser.submit("/device", { user_code: wrong() })),
    );
    const statuses = pages.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(404), ...Array<number>(5).fill(429)]);
  });
});
