import { afterAll, beforeAll, expect, it } from "vitest";
import { newLinkSecret } from "../../../src/http/request/credentials.js";
import { Browser } from "../../support/browser.js";
import { startService, type Service } from "../../support/service.js";

let service: Service;
beforeAll(async () => (service = await startService()));
afterAll(() => service.stop());

it.each([
  ["/invitation", "svc_invitation"],
  ["/password", "svc_password_link"],
])("the secret of a link to %s is put into a cookie, and out of the address", async (page, cookie) => {
  const browser = new Browser(service.url);
  const secret = newLinkSecret().text;
  const sent = await browser.send("GET", `${page}?token=${secret}`);
  expect(sent).toMatchObject({ status: 303, location: page, html: "" });
  expect(sent.headers.get("Referrer-Policy")).toBe("no-referrer");
  expect(sent.headers.get("Cache-Control")).toBe("no-store");
  expect(browser.setCookies).toMatchObject([
    expect.stringMatching(new RegExp(`^${cookie}=${secret}; path=/; expires=.*; samesite=lax; httponly$`, "i")),
  ]);
  // It is the cookie's link that is looked for.
  expect((await browser.get(page)).status).toBe(404);
  browser.cookies.set(cookie, "anything");
  expect((await browser.get(page)).status).toBe(404);
});
