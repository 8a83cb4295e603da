import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { formOf } from "../../support/browser.js";
import { newUserCode, showUserCode } from "../../../src/http/oauth/device-authorization.js";
import type { Actor } from "../../support/service.js";
import type { Browser } from "./browser.js";
import { useOAuthService } from "./fixture.js";

const service = useOAuthService();
let owner: Actor;
let browser: Browser;
let userCode: string;
beforeAll(async () => {
  owner = await service.owner("acme");
});
beforeEach(async () => {
  await service.db.sql`delete from iam.throttles`;
  browser = await service.browser(owner);
  ({ user_code: userCode } = await service.ask());
});

async function stored() {
  const [row] = await service.db.sql`
    select d.status, u.email from iam.device_authorizations as d left join iam.users as u on u.user_id = d.user_id
    where d.user_code = ${userCode.replace("-", "")}`;
  return row;
}

const PENDING = { status: "pending", email: null };
const UNKNOWN =
  "No device is waiting with this code. Compare it with the one that your device shows; a code expires after ten minutes.";

describe("GET /device", () => {
  it("asks for the code, which a valid address fills in, and neither shows the request nor decides it", async () => {
    const page = await browser.get(`/device?user_code=${userCode.toLowerCase()}`);
    expect(page.text).toContain("You are signed in as owner@acme.example.");
    expect(page.text).not.toContain("Approve");
    expect(page.html).toContain('<label for="user_code">Code</label>');
    expect(page.html).toMatch(new RegExp(`<input[^>]* value="${userCode}"`));
    expect(await stored()).toEqual(PENDING);
    const wrong = ['"><script>alert(1)</script>', "ABCD-EFGH", "BCDF-GHJK&user_code=BCDF-GHJK"];
    for (const query of ["", ...wrong.map((code) => `?user_code=${code}`)]) {
      const { status, html } = await browser.get(`/device${query}`);
      expect([query, status]).toEqual([query, 200]);
      expect(html).toMatch(/<input[^>]* id="user_code"[^>]* value(?!=)/);
      expect(html).not.toContain("<script");
    }
  });

  it("redirects signed-out users to the sign-in page and back", async () => {
    for (const [path, location] of [
      ["/device", "/login?next=%2Fdevice"],
      ["/device?user_code=bcdfghjk", "/login?next=%2Fdevice%3Fuser_code%3DBCDF-GHJK"],
      ["/device?user_code=//elsewhere.example", "/login?next=%2Fdevice"],
    ] as const)
      expect(await service.visitor().get(path)).toMatchObject({ status: 303, location });
  });
});

describe("POST /device with a code", () => {
  beforeEach(async () => {
    await browser.get("/device");
  });

  it("shows which program asks, from where and since when, and what approving means, and decides nothing", async () => {
    const page = await browser.submit({ user_code: userCode });
    expect(page.status).toBe(200);
    expect(page.text).toContain("A device asks to act as owner@acme.example .");
    expect(page.text).toMatch(
      new RegExp(
        `Code ${userCode} Program svc, the command line of this service Address 127\\.0\\.0\\.1 ` +
          "Requested Less than a minute ago \\(\\d{1,2} [A-Z][a-z]+ \\d{4} at \\d\\d:\\d\\d:\\d\\d UTC\\)",
      ),
    );
    expect(page.text).toContain("it can do everything that you can do, in all of your organizations, for 90 days");
    expect(page.text).toContain("Approve only if you started this yourself");
    await service.db.sql`update iam.device_authorizations set address = '<img src=x onerror=alert(1)>&"'`;
    const { html, text } = await browser.submit({ user_code: userCode });
    expect(html).not.toContain("<img");
    expect(text).toContain('Address <img src=x onerror=alert(1)>&" Requested');
    expect(await stored()).toEqual(PENDING);
  });

  it("reports an invalid code", async () => {
    for (const typed of ["", "x", "ABCD-EFGH", "<b>", "x".repeat(2_000)]) {
      const page = await browser.submit({ user_code: typed });
      expect(page.status).toBe(422);
      expect(page.text).toContain(
        "This is not a valid code. A code has eight letters and no vowels, for example BCDF-GHJK.",
      );
      expect(page.html).toMatch(/<input class="code" .* aria-invalid="true"\/>/);
      expect(page.html).not.toContain("<b>");
    }
  });

  it("answers 404 for a code that was never issued or has expired", async () => {
    const code = showUserCode(newUserCode());
    await service.db.sql`update iam.device_authorizations set expires_at = now()`;
    const expired = { user_code: userCode };
    for (const fields of [{ user_code: code }, expired, { ...expired, decision: "approve" }]) {
      const page = await browser.submit(fields);
      expect(page.status).toBe(404);
      expect(page.text).toContain(UNKNOWN);
      expect(page.html).toMatch(new RegExp(`<input[^>]* value="${fields.user_code}"`));
    }
    expect(await stored()).toEqual(PENDING);
  });
});

describe("POST /device with a decision", () => {
  beforeEach(async () => {
    await browser.get("/device");
  });
  const decide = (decision: string) => browser.submit({ user_code: userCode, decision });

  it.each([
    ["approve", "deny", "Device approved"],
    ["deny", "approve", "Device denied"],
    ["approve", "approve", "Device approved"],
  ])("keeps the first: %s, then %s", async (first, second, text) => {
    const pages = [await decide(first), await decide(second), await browser.submit({ user_code: userCode })];
    for (const page of pages) expect(page.text).toContain(text);
    expect(pages[0]!.status).toBe(200);
    const status = text === "Device approved" ? "approved" : "denied";
    expect(await stored()).toEqual({ status, email: "owner@acme.example" });
  });

  it("does not disclose or change the decision of another user", async () => {
    await decide("deny");
    const other = await service.browser(await service.owner(`other-${Date.now()}`));
    await other.get("/device");
    for (const fields of [{ user_code: userCode }, { user_code: userCode, decision: "approve" }]) {
      const page = await other.submit(fields);
      expect(page.status).toBe(404);
      expect(page.text).toContain(UNKNOWN);
    }
    expect(await stored()).toEqual({ status: "denied", email: "owner@acme.example" });
  });

  it("decides nothing by any other value", async () => {
    for (const decision of ["", "yes", "APPROVE", "approve "]) {
      const page = await decide(decision);
      expect(page.status).toBe(400);
      expect(page.text).toContain("The form says neither to approve nor to deny, so nothing was done.");
    }
    expect(await stored()).toEqual(PENDING);
  });
});

it("a decision is refused after the session has ended, also by the database", async () => {
  await browser.get("/device");
  const [{ hash }] = await service.db.sql<[{ hash: Buffer }]>`
    update iam.sessions set expires_at = now() returning session_hash as hash`;
  expect((await browser.submit({ user_code: userCode, decision: "approve" })).status).toBe(403);
  // A code is only filled in again, after signing in.
  const next = encodeURIComponent(`/device?user_code=${userCode}`);
  expect(await browser.submit({ user_code: userCode })).toMatchObject({ status: 303, location: `/login?next=${next}` });
  const [{ answer }] = await service.db.sql<[{ answer: object }]>`
    select svc_api.decide_device_authorization(${hash}, ${userCode.replace("-", "")}, true) as answer`;
  expect(answer).toEqual({ status: "signed_out" });
  expect(await stored()).toEqual(PENDING);
});

it("one address can start sixty sign-ins at once; beyond that it is answered when to retry", async () => {
  const ask = () => service.form("/oauth/device_authorization", { client_id: "svc-cli" });
  /** Sets the throttle as if `count` devices had just asked. */
  const asked = (count: number) => service.db.sql`
    update iam.throttles set full_at = clock_timestamp() + make_interval(secs => ${count})`;
  await ask();
  await asked(59);
  expect((await ask()).status).toBe(200);
  await asked(62);
  const { status, headers, body } = await ask();
  expect([status, headers.get("Retry-After")]).toEqual([429, "3"]);
  expect(body).toEqual({
    error: "temporarily_unavailable",
    error_description: "Too many sign-ins were started from here. Wait 3 s.",
  });
});

describe("a user who tries codes", () => {
  const wrong = () => showUserCode(newUserCode());

  it("has ten guesses, decisions included; then even the right code is not looked up, and others are unaffected", async () => {
    const other = await service.browser(await service.owner("waits-for-nobody"));
    await browser.get("/device");
    for (let guess = 1; guess <= 10; guess++) {
      // The right code is no guess.
      expect((await browser.submit({ user_code: userCode })).status).toBe(200);
      const decision = guess % 2 === 0 ? { decision: "approve" } : {};
      expect((await browser.submit({ user_code: wrong(), ...decision })).status).toBe(404);
    }
    for (const fields of [
      { user_code: wrong() },
      { user_code: userCode },
      { user_code: userCode, decision: "approve" },
      { user_code: wrong(), decision: "deny" },
    ]) {
      const page = await browser.submit(fields);
      expect([page.status, page.headers.get("Retry-After")]).toEqual([429, expect.stringMatching(/^([1-5]?\d|60)$/)]);
      expect(page.text).toContain("Too many wrong codes were sent from your account. Wait ");
      expect(formOf(page.html, "device").fields).toEqual(["user_code"]);
    }
    await other.get("/device");
    expect((await other.submit({ user_code: userCode })).text).toContain("Approve this device?");
  });

  it("has no more guesses in parallel than in sequence", async () => {
    await browser.get("/device");
    const pages = await Promise.all(Array.from({ length: 15 }, () => browser.submit({ user_code: wrong() })));
    const statuses = pages.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(404), ...Array<number>(5).fill(429)]);
  });
});
