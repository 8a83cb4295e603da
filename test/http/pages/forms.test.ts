import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { Browser, formOf } from "../../support/browser.js";
import { newCredential } from "../../../src/http/request/credentials.js";
import { startService } from "../../support/service.js";
import { openRequest } from "../open-request.js";
import { createUser, formToken, PASSWORD, signedIn, whoIs } from "./people.js";

const PUBLIC_URL = "https://svc.example.com/base";
const ORIGIN = "https://svc.example.com";

const service = await startService();
const behindTls = await startService({}, { publicUrl: PUBLIC_URL });
for (const { db } of [service, behindTls]) {
  await createUser(db.sql, "ada@example.com");
  await createUser(db.sql, "grace@example.com");
}
afterAll(() => Promise.all([service.stop(), behindTls.stop()]));

const RIGHT = { email: "ada@example.com", password: PASSWORD };

/** A browser on the sign-in page, and the token of its form. */
async function onPage(of = service, origin = of.url) {
  const browser = new Browser(of.url, origin);
  const page = await browser.get("/login");
  return { browser, page, token: formOf(page.html).hidden["form_token"]! };
}

describe("a page", () => {
  it.each(["/login", "/invitation?token=x", "/password?token=x"])(
    "%s has no scripts, cannot be framed or cached, and sends forms to its own origin only",
    async (path) => {
      const { headers, html } = await new Browser(service.url).get(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy":
          "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
      });
      expect(html.match(/<link\b[^>]*>/g)).toEqual([
        expect.stringMatching(/^<link rel="stylesheet" href="console\/style\.css\?v=[0-9a-f]+"\/>$/),
      ]);
      expect(html).not.toMatch(/<(script|style|img|iframe|object|embed)\b|\s(style|on\w+)=|javascript:|<!--/i);
    },
  );

  it("is in English and fit for a phone, with one heading, a label for each field, and messages that are announced", async () => {
    const { browser, page } = await onPage();
    const { html } = page;
    expect(html).toMatch(/^<!doctype html>\s*<html lang="en">/);
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1"/>');
    for (const once of [/<title>[^<]+ · svc<\/title>/g, /<main /g, /<h1/g]) expect(html.match(once)).toHaveLength(1);
    const ids = [...html.matchAll(/<input\s+id="(\w+)"/g)].map(([, id]) => id);
    expect(ids).toEqual(["email", "password"]);
    for (const id of ids) expect(html).toContain(`<label for="${id}">`);
    expect(html).toMatch(/id="email"\s+type="email"\s+autocomplete="username"/);
    expect(html).toMatch(/id="password"\s+type="password"\s+autocomplete="current-password"/);
    const wrong = await browser.submit(page, { ...RIGHT, password: "wrong horse battery" });
    expect(wrong.html).toMatch(/<p class="error" role="alert" id="sign-in-problem">/);
    expect(wrong.html.match(/aria-describedby="sign-in-problem"\s+aria-invalid="true"/g)).toHaveLength(2);
  });
});

describe("cookies", () => {
  const attributes = (cookies: string[]) =>
    cookies.map((cookie) =>
      cookie.replace(/=svc_[a-z]+_[0-9a-f]{48};/, "=…;").replace(/expires=[^;]*GMT/, "expires=…"),
    );

  it("are hidden from scripts, and limited to this host and its own requests", async () => {
    const { browser, page } = await onPage();
    expect(attributes(browser.setCookies)).toEqual(["svc_visit=…; path=/; samesite=lax; httponly"]);
    await browser.get("/login");
    expect(browser.setCookies).toEqual([]);
    await browser.submit(page, RIGHT);
    expect(attributes(browser.setCookies)).toEqual([
      "svc_session=…; path=/; expires=…; samesite=lax; httponly",
      "svc_visit=; path=/; expires=…; samesite=lax; httponly",
    ]);
    const expires = Date.parse(/svc_session=.*expires=([^;]*)/.exec(browser.setCookies.join("\n"))![1]!);
    expect(Math.abs(expires - Date.now() - 12 * 3_600_000)).toBeLessThan(60_000);
  });

  it("are bound to TLS and the exact host if the public address is https", async () => {
    const { browser, page } = await onPage(behindTls, ORIGIN);
    expect(attributes(browser.setCookies)).toEqual(["__Host-svc_visit=…; path=/; samesite=lax; secure; httponly"]);
    // Links are relative, so that the pages work below any public address.
    expect(formOf(page.html).action).toBe("login");
    const answer = await browser.submit(page, RIGHT);
    expect(answer.headers.get("Location")).toBe("console");
    expect(attributes(browser.setCookies)).toEqual([
      "__Host-svc_session=…; path=/; expires=…; samesite=lax; secure; httponly",
      "__Host-svc_visit=; path=/; expires=…; samesite=lax; secure; httponly",
    ]);
    expect(await whoIs(browser)).toBe("ada@example.com");
    // A cookie without that prefix is ignored there.
    const thief = new Browser(behindTls.url, ORIGIN);
    thief.cookies.set("svc_session", browser.cookies.get("__Host-svc_session")!);
    expect(await whoIs(thief)).toBeNull();
  });
});

describe("a form is refused", () => {
  const refusedToken =
    "The form is out of date Somebody signed in or out in this browser after the form was shown, or the form did not come from this service, " +
    "or the browser blocks cookies. Open the page again and submit the form there. If that does not help, allow cookies for this site. Request ID: req Go to the console";

  type Attempt = (token: string) => Promise<string | undefined> | string | undefined;
  it.each<[string, Attempt, visit?: string | null]>([
    ["without a token", () => undefined],
    ["with a forged token", (token) => "A".repeat(token.length)],
    ["with a token that lacks a character", (token) => token.slice(0, -1)],
    ["with a token of other characters", (token) => "é".repeat(token.length)],
    ["with the token of another browser", async () => (await onPage()).token],
    ["with a token of another service's secret", async () => (await onPage(behindTls, ORIGIN)).token],
    ["by a browser that keeps no cookies", (token) => token, null],
    ["with the token of a planted cookie in another format", (token) => token, "x"],
  ])("%s", async (_, attempt, visit) => {
    const { browser, token } = await onPage();
    const form_token = await attempt(token);
    if (visit === null) browser.cookies.clear();
    else if (visit !== undefined) browser.cookies.set("svc_visit", visit);
    const answer = await browser.post("/login", { ...RIGHT, ...(form_token !== undefined && { form_token }) });
    expect([answer.status, answer.text]).toEqual([403, refusedToken]);
    expect(answer.headers.get("X-Frame-Options")).toBe("DENY");
    expect(await whoIs(browser)).toBeNull();
  });

  it("if its sender is signed out already, and says that; who then signs out is led to signing in", async () => {
    const ada = await signedIn(service, "ada@example.com");
    const form_token = await formToken(ada);
    const cookie = ada.cookies.get("svc_session")!;
    const out = { status: 303, location: "/login" };
    expect(await ada.post("/logout", { form_token })).toMatchObject(out);
    // From another tab; and by a double click, whose second form is sent before the answer to the first.
    for (const each of [undefined, cookie]) {
      if (each !== undefined) ada.cookies.set("svc_session", each);
      const changed = await ada.post("/change-password", { form_token, password: PASSWORD });
      expect([changed.status, changed.text]).toEqual([
        403,
        expect.stringMatching(/^You are signed out .*Sign in again/),
      ]);
      expect(await ada.post("/logout", { form_token })).toMatchObject(out);
      expect(ada.cookies.has("svc_session")).toBe(false);
    }
  });

  it("with the token of another session, or of the time before signing in, and as an address: nobody is signed out", async () => {
    const before = await onPage();
    const ada = await signedIn(service, "ada@example.com");
    const grace = await signedIn(service, "grace@example.com");
    for (const form_token of [await formToken(grace), before.token])
      expect((await ada.post("/logout", { form_token })).status).toBe(403);
    expect((await ada.get("/logout")).status).toBe(405);
    expect(await whoIs(ada)).toBe("ada@example.com");
  });
});

describe("the origin check of a form decides", () => {
  /** The status of the answer to a valid form with these headers, some of which `fetch` does not allow. */
  async function send(headers: Record<string, string>, of = behindTls, from = ORIGIN): Promise<number> {
    const { browser, token } = await onPage(of, from);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const body = new URLSearchParams({ ...RIGHT, form_token: token }).toString();
    const type = { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": Buffer.byteLength(body) };
    const options = { method: "POST", headers: { cookie, ...type, ...headers } };
    const response = await openRequest(`${of.url}/login`, options, body);
    await text(response);
    return response.statusCode!;
  }
  const EVIL = "https://evil.example";

  it.each([
    ["from its own origin", { Origin: ORIGIN }, 303],
    ["from another origin", { Origin: EVIL }, 403],
    ["from an origin that begins like it", { Origin: "https://svc.example.com.evil.example" }, 403],
    ["from the same host without TLS", { Origin: "http://svc.example.com" }, 403],
    ["from another port", { Origin: "https://svc.example.com:8443" }, 403],
    ["from a page without an origin", { Origin: "null" }, 403],
    ["from an invalid origin", { Origin: "svc.example.com" }, 403],
    ["from another origin, despite Sec-Fetch-Site", { Origin: EVIL, "Sec-Fetch-Site": "same-origin" }, 403],
    ["without an origin, from the same site by Sec-Fetch-Site", { "Sec-Fetch-Site": "same-origin" }, 303],
    ["without an origin, from the address bar", { "Sec-Fetch-Site": "none" }, 303],
    ["without an origin, from a sibling", { "Sec-Fetch-Site": "same-site" }, 403],
    ["without an origin, from another site", { "Sec-Fetch-Site": "cross-site", Referer: PUBLIC_URL }, 403],
    ["without both, from a page of ours", { Referer: `${PUBLIC_URL}/login` }, 303],
    ["without both, from another page", { Referer: "https://evil.example/?https://svc.example.com/" }, 403],
    ["without any of the three", {}, 403],
    ["from another origin that is the request's host", { host: "evil.example", Origin: EVIL }, 403],
  ])("%s", async (_, headers, expected) => {
    expect(await send(headers)).toBe(expected);
  });

  it.each([
    ["svc.internal:4400", "http://svc.internal:4400", 303],
    ["svc.internal", "https://svc.internal", 303],
    ["svc.internal:4400", "http://svc.internal", 403],
    ["svc.internal", "http://evil.example", 403],
    ["null", "null", 403],
    ["evil", "ftp://evil", 403],
  ])("by the request's host if SVC_PUBLIC_URL is not set: at %s from %s", async (host, origin, expected) => {
    expect(await send({ host, origin }, service, service.url)).toBe(expected);
  });

  it("and names the address that it accepts", async () => {
    const { browser, token } = await onPage(behindTls, ORIGIN);
    const answer = await browser.post("/login", { ...RIGHT, form_token: token }, { Origin: "https://<evil>.example" });
    expect(answer.text).toBe(
      `The form came from another site The form was not sent from a page of ${ORIGIN}, so nothing was done. Open the page at ${ORIGIN} and submit the form ` +
        "there. If this is not the address at which you reach this service, ask its operator to set SVC_PUBLIC_URL to the right one. Request ID: req Go to the console",
    );
  });
});

describe("a form's body", () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const { browser, token } = await onPage();
    const { status, text } = await browser.post("/login", body.replace("TOKEN", token), headers);
    return { status, text };
  };
  const good = `form_token=TOKEN&email=ada%40example.com&password=${encodeURIComponent(PASSWORD)}`;

  it("is a form in UTF-8", async () => {
    expect((await post(good, { "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8" })).status).toBe(303);
    for (const type of ["application/json", "application/x-www-form-urlencoded; charset=latin1"])
      expect(await post(good, { "Content-Type": type })).toEqual({
        status: 415,
        text:
          "The request was refused The body must be a form with the header Content-Type: application/x-www-form-urlencoded. " +
          "Send the header Content-Type: application/x-www-form-urlencoded, and the body in UTF-8. Request ID: req Go to the console",
      });
  });

  it("has at most 8 KiB, also after decompression", async () => {
    const filler = (length: number) => `${good}&next=${"x".repeat(length)}`;
    const token = (await onPage()).token;
    const room = 8 * 1024 - filler(0).length - token.length + "TOKEN".length;
    expect((await post(filler(room))).status).toBe(303);
    expect(await post(filler(room + 1))).toEqual({
      status: 413,
      text: "Too much data The body is too large. At most 8192 bytes are read. Go back, correct what is wrong, and try again. Request ID: req Go to the console",
    });
    const type = { "Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": "gzip" };
    const headers = { ...type, Origin: service.url };
    const body = gzipSync(filler(200_000));
    expect((await fetch(`${service.url}/login`, { method: "POST", headers, body })).status).toBe(413);
  });

  const INVALID = "Send each field of the form once, in UTF-8. Request ID: req Go to the console";
  it.each([
    ["has each field once", `${good}&email=grace%40example.com`, "It has a field twice."],
    ["has no unknown field", `${good}&admin=1`, "It has an unknown field."],
    ["has no field of Object.prototype", `${good}&__proto__=1`, "It has an unknown field."],
    ["holds whole characters", "email=%ed%a0%80", "Its fields are not percent-encoded UTF-8."],
  ])("%s", async (_, body, why) => {
    const text = `The request was refused The form is not valid. ${why} ${INVALID}`;
    expect(await post(body)).toEqual({ status: 400, text });
  });
});

it("a page escapes the address that was entered, and the request id", async () => {
  const { browser, page } = await onPage();
  const email = `"'><script>alert(1)</script>&amp;@example.com`;
  const { status, html } = await browser.submit(page, { email, password: "x" });
  expect(status).toBe(422);
  expect(html).not.toContain("<script");
  expect(html).toContain(`value="&quot;'>&lt;script>alert(1)&lt;/script>&amp;amp;@example.com"`);
  const refused = await browser.post("/login", {}, { "X-Request-ID": "<b>'\"&" });
  expect(refused.html).toContain("<code>&lt;b>'&quot;&amp;</code>");
});

it.each([
  ["/invitation", "svc_invitation"],
  ["/password", "svc_password_link"],
])("the secret of a link to %s is moved from the address to a cookie", async (page, cookie) => {
  const browser = new Browser(service.url);
  const secret = newCredential("link").text;
  const sent = await browser.send("GET", `${page}?token=${secret}`);
  expect(sent).toMatchObject({ status: 303, location: page, html: "" });
  expect(sent.headers.get("Referrer-Policy")).toBe("no-referrer");
  expect(sent.headers.get("Cache-Control")).toBe("no-store");
  expect(browser.setCookies).toMatchObject([
    expect.stringMatching(new RegExp(`^${cookie}=${secret}; path=/; expires=.*; samesite=lax; httponly$`, "i")),
  ]);
  // The page looks up the cookie's link.
  expect((await browser.get(page)).status).toBe(404);
  browser.cookies.set(cookie, "anything");
  expect((await browser.get(page)).status).toBe(404);
});
