import { describe, expect, it } from "vitest";
import { Browser, formOf } from "../../support/browser.js";
import { createDatabase } from "../../support/database.js";
import { useService } from "../../support/service.js";
import { createUser, formToken, PASSWORD, signedIn, whoIs } from "./people.js";

const database = await createDatabase();
let queries = 0;
const counted = new Proxy(database.sql, {
  apply: (target, self, args) => {
    queries++;
    return Reflect.apply(target, self, args) as unknown;
  },
});
const service = await useService({ trustedProxies: 1 }, { database, pages: { sql: counted } });
await createUser(service.db.sql, "ada@example.com");
await createUser(service.db.sql, "grace@example.com");
await createUser(service.db.sql, "nopassword@example.com", null);

/** Each test uses its own network address, so that throttles do not affect other tests. */
let addresses = 0;
const newBrowser = (address = `192.0.2.${++addresses}`) =>
  new Browser(service.url, service.url, { "X-Forwarded-For": address });

async function signIn(browser: Browser, email: string, password = PASSWORD, path = "/login") {
  return browser.fill(path, { email, password });
}

/** A browser with this session cookie. */
function withSession(value: string): Browser {
  const browser = newBrowser();
  browser.cookies.set("svc_session", value);
  return browser;
}

const sessions = () => service.db.sql`select session_hash from iam.sessions`;

describe("signing in", () => {
  it("leads on at a second click, which comes with the session that the first one began, but not as somebody else", async () => {
    const browser = newBrowser();
    const page = await browser.get("/login?next=%2Fdevice");
    const fields = { email: "Ada@example.com", password: PASSWORD };
    for (let click = 1; click <= 2; click++)
      expect(await browser.submit(page, fields)).toMatchObject({ status: 303, location: "/device" });
    expect((await browser.submit(page, { ...fields, email: "grace@example.com" })).status).toBe(403);
    expect(await whoIs(browser)).toBe("ada@example.com");
  });

  it("accepts the address in other spellings, and leads to the console, as the page does from then on", async () => {
    for (const email of ["ADA@example.com", "  ada@example.com\t"]) {
      const browser = newBrowser();
      expect(await signIn(browser, email)).toMatchObject({ status: 303, location: "/console", html: "" });
      expect(await browser.get("/login")).toMatchObject({ status: 303, location: "/console", html: "" });
      expect(await whoIs(browser)).toBe("ada@example.com");
    }
  });

  it("accepts a password in another Unicode normalization", async () => {
    await createUser(service.db.sql, "zoe@example.com", "Zoë würde gern rein".normalize("NFKC"));
    expect((await signIn(newBrowser(), "zoe@example.com", "Zoë würde gern rein".normalize("NFD"))).status).toBe(303);
  });

  it("creates a session of twelve hours with a new id, of which only the hash is stored, whatever cookie was sent", async () => {
    const planted = `svc_session_${"0".repeat(48)}`;
    const browser = withSession(planted);
    await signIn(browser, "ada@example.com");
    const session = browser.cookies.get("svc_session")!;
    expect(session).toMatch(/^svc_session_[0-9a-f]{48}$/);
    expect(session).not.toBe(planted);
    expect(await whoIs(withSession(planted))).toBeNull();
    const [row] = await service.db.sql<[{ hash: string; seconds: number }]>`
      select encode(session_hash, 'hex') as hash, extract(epoch from expires_at - created_at)::integer as seconds
      from iam.sessions order by created_at desc limit 1`;
    const digest = await crypto.subtle.digest("SHA-256", Buffer.from(session));
    expect(row).toEqual({ hash: Buffer.from(digest).toString("hex"), seconds: 43_200 });
  });

  it("does not disclose which addresses are known: every failure has the same answer", async () => {
    const wrong = [
      ["ada@example.com", "wrong horse battery"],
      ["ada@example.com", PASSWORD.toUpperCase()],
      ["ada@example.com", ` ${PASSWORD}`],
      ["ada@example.com", ""],
      ["nobody@example.com", PASSWORD],
      ["nopassword@example.com", PASSWORD],
      ["nopassword@example.com", ""],
      ["not an address", PASSWORD],
      [`${"a".repeat(300)}@example.com`, PASSWORD],
      ["ada@example.com\u0000", PASSWORD],
      ["ada@example.com\r\nBcc: x@example.com", PASSWORD],
      ["", ""],
    ] as const;
    const before = await sessions();
    for (const [email, password] of wrong) {
      const browser = newBrowser();
      const answer = await signIn(browser, email, password);
      expect(answer.status, email).toBe(422);
      expect(answer.text).toBe(
        "Sign in The e-mail address or the password is wrong. Check both, then try again. E-mail address Password Sign in " +
          "Accounts are created by invitation. If you forgot your password, ask an owner of your organization, or the operator of this service, for a link to set a new one.",
      );
      if (password.trim() !== "") expect(answer.html).not.toContain(password);
      expect(browser.cookies.has("svc_session")).toBe(false);
    }
    expect(await sessions()).toEqual(before);
    // The form keeps the address.
    expect((await signIn(newBrowser(), "ada@example.com", "wrong")).html).toContain('value="ada@example.com"');
  });
});

describe("a session", () => {
  it("ends when another user signs in in the same browser, and when it expires", async () => {
    const browser = await signedIn(service, "ada@example.com");
    const first = browser.cookies.get("svc_session")!;
    const form_token = await formToken(browser);
    await browser.post("/login", { form_token, email: "grace@example.com", password: PASSWORD });
    expect(await whoIs(browser)).toBe("grace@example.com");
    expect(await whoIs(withSession(first))).toBeNull();
    await service.db.sql`update iam.sessions set expires_at = now()`;
    expect(await whoIs(browser)).toBeNull();
  });

  it("is not created by any other cookie", async () => {
    const wrong = ["", "x", "svc_session_", `svc_session_${"g".repeat(48)}`, `svc_token_${"0".repeat(48)}`];
    for (const value of [...wrong, "a".repeat(4_000)]) expect(await whoIs(withSession(value))).toBeNull();
  });

  it("is validated by one query, and by none without a cookie", async () => {
    const browser = await signedIn(service, "ada@example.com");
    for (const [visitor, email, count] of [
      [browser, "ada@example.com", 1],
      [newBrowser(), null, 0],
    ] as const) {
      queries = 0;
      expect([await whoIs(visitor), queries]).toEqual([email, count]);
    }
  });
});

it("signing out ends the session in the database, deletes the cookie, and leaves other browsers signed in", async () => {
  const [browser, other] = [await signedIn(service, "ada@example.com"), await signedIn(service, "ada@example.com")];
  const value = browser.cookies.get("svc_session")!;
  const answer = await browser.post("/logout", { form_token: await formToken(browser) });
  expect(answer).toMatchObject({ status: 303, location: "/login" });
  expect(browser.cookies.has("svc_session")).toBe(false);
  expect(await whoIs(withSession(value))).toBeNull();
  expect(await whoIs(other)).toBe("ada@example.com");
});

describe("trying too often", () => {
  /** Makes five failing attempts, and returns the answer to a sixth. */
  async function sixth(browser: Browser, email: string, password = "wrong horse battery") {
    for (let i = 0; i < 5; i++) expect((await signIn(browser, email, "wrong horse battery")).status).toBe(422);
    return signIn(browser, email, password);
  }

  it("is answered with how long to wait and what else to do, even with the right password, and locks no one else out", async () => {
    const browser = newBrowser();
    const answer = await sixth(browser, "ada@example.com", PASSWORD);
    expect(answer.status).toBe(429);
    const seconds = Number(answer.headers.get("Retry-After"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(answer.text).toContain(
      "Sign in There were too many attempts to sign in from your network, with this e-mail address or in all. " +
        `Wait ${seconds} seconds, then try again. If you forgot your password, ask an owner of your organization, or the operator of this service, for a link to set a new one. ` +
        "E-mail address",
    );
    expect(answer.html).toMatch(/<input id="email"[^>]* value="ada@example\.com"/);
    expect(answer.html).not.toContain(PASSWORD);
    expect(await whoIs(browser)).toBeNull();
    // Another network can sign in to the account, and this one to another account.
    expect((await signIn(newBrowser(), "ada@example.com")).status).toBe(303);
    expect((await signIn(browser, "grace@example.com")).status).toBe(303);
  });

  it("is counted alike for an unknown address, and by IPv6 network", async () => {
    expect((await sixth(newBrowser("2001:db8:0:3::1"), "nobody@example.com")).status).toBe(429);
    expect((await signIn(newBrowser("2001:db8:0:4::1"), "nobody@example.com")).status).toBe(422);
  });

  const SPELLINGS =
    "ada@example.com ADA@example.com \tada@example.com Ada@Example.com ada@EXAMPLE.com adA@example.com".split(" ");
  it.each<[string, attempt: (n: number) => [address: string, email: string]]>([
    ["for the address in any spelling", (n) => ["192.0.3.1", SPELLINGS[n]!]],
    ["for a subscriber's whole IPv6 network", (n) => [`2001:db8:0:1:${n}::1`, "ada@example.com"]],
    [
      "by the address that the proxy reports, not the client",
      (n) => [`203.0.113.${n}, 198.51.100.1`, "ada@example.com"],
    ],
  ])("is counted %s", async (_, attempt) => {
    const signedInWith = async (n: number, password?: string) => {
      const [address, email] = attempt(n);
      return (await signIn(newBrowser(address), email, password)).status;
    };
    for (let n = 0; n < 5; n++) expect(await signedInWith(n, "wrong")).toBe(422);
    expect(await signedInWith(5)).toBe(429);
  });

  it("is forgiven after a successful sign-in", async () => {
    const browser = newBrowser();
    for (let i = 0; i < 2; i++) {
      for (let j = 0; j < 4; j++) expect((await signIn(browser, "ada@example.com", "wrong")).status).toBe(422);
      expect((await signIn(browser, "ada@example.com")).status).toBe(303);
      await browser.submit(await browser.get("/device"), {}, "logout");
    }
  });

  it("is counted alike for parallel attempts, and forgiven by one attempt per minute", async () => {
    const browser = newBrowser();
    const page = await browser.get("/login");
    const fields = { email: "grace@example.com", password: "wrong horse battery" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => browser.submit(page, fields)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(5).fill(422), ...Array<number>(3).fill(429)]);
    await service.db.sql`update iam.throttles set full_at = full_at - interval '1 minute'`;
    expect((await browser.submit(page, fields)).status).toBe(422);
    expect((await browser.submit(page, fields)).status).toBe(429);
    // Attempts that were made before the database's clock was set back.
    await service.db.sql`update iam.throttles set full_at = full_at + interval '1 day'`;
    expect((await browser.submit(page, fields)).status).toBe(422);
  });
});

describe("signing in leads", () => {
  it("on to the page that asked for it, also after a failed first attempt and after signing out", async () => {
    for (const next of [
      "/device",
      "/device?user_code=BCDF-GHJK",
      "/device?user_code=bcdfghjk",
      `/invitation?token=svc_link_${"0a".repeat(24)}`,
      "/console/acme/shop/live/customer?id=J%C3%BCrgen+%2F..%2F&at=*",
    ]) {
      const browser = newBrowser();
      const path = `/login?next=${encodeURIComponent(next)}`;
      expect(await signIn(browser, "ada@example.com", PASSWORD, path)).toMatchObject({ status: 303, location: next });
      // A signed-in user is redirected at once.
      expect(await browser.get(path)).toMatchObject({ status: 303, location: next });
    }
    const browser = newBrowser();
    const failed = await signIn(browser, "ada@example.com", "wrong", "/login?next=%2Fdevice");
    const answer = await browser.submit(failed, { email: "ada@example.com", password: PASSWORD });
    expect(answer.location).toBe("/device");
    const form_token = await formToken(browser);
    const left = await browser.post("/logout", { form_token, next: "/device?user_code=BCDF-GHJK" });
    expect(left.location).toBe("/login?next=%2Fdevice%3Fuser_code%3DBCDF-GHJK");
  });

  const ELSEWHERE =
    "https://evil.example/ //evil.example/device /\\evil.example/device \\\\evil.example /%2fevil.example " +
    "%2f%2fevil.example /device/../../evil /device//evil.example /device@evil.example " +
    "/device?user_code=BCDF-GHJK&next=//evil.example /device?user_code=%2f%2fevil /device#//evil.example " +
    "device http:/device javascript:alert(1) data:text/html,x /logout /invitation?token=//evil.example " +
    "/invitation?token=svc_x /invitation?user_code=BCDF-GHJK /device?token=svc_link_0000000000000000000000 " +
    "/consoles /console//evil.example /console/../logout /console/acme/.. /console/%2e%2e/logout /console/.%2E?x=1 /console/./acme " +
    "/console\\evil /console@evil.example /console?x=//evil.example /console#x";
  it("nowhere but to the console otherwise", async () => {
    const [stranger, browser] = [newBrowser(), newBrowser()];
    const two = await stranger.get("/login?next=/device&next=//evil.example");
    expect(Object.keys(formOf(two.html).hidden)).toEqual(["form_token"]);
    const signedOut = await browser.get("/login?next=//evil.example/device");
    const fields = { email: "ada@example.com", password: PASSWORD, next: "//evil.example/device" };
    expect(await browser.submit(signedOut, fields)).toMatchObject({ status: 303, location: "/console" });
    for (const next of [
      ...ELSEWHERE.split(" "),
      "/device\r\nLocation: https://evil.example",
      "/device\n",
      " /device",
      "",
    ]) {
      const path = `/login?next=${encodeURIComponent(next)}`;
      expect((await browser.get(path)).location, next).toBe("/console");
      const page = await stranger.get(path);
      // An invalid address is refused before the slow password check, and the form keeps its target.
      const failed = await stranger.submit(page, { email: "ada", password: "", next });
      for (const { html } of [page, failed]) expect(Object.keys(formOf(html).hidden), next).toEqual(["form_token"]);
    }
  });
});
