import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hash } from "@node-rs/argon2";
import type { DeviceAuthorizationResponse } from "oauth4webapi";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startOAuthService, type OAuthService } from "../http/oauth/fixture.js";
import { faultsOf } from "../support/axe.js";
import type { Actor } from "../support/service.js";
import { usePage } from "./support/page.js";

const EMAIL = "owner@acme.example";
const PASSWORD = "correct horse battery staple";

let service: OAuthService;
let owner: Actor;
beforeAll(async () => {
  service = await startOAuthService();
  owner = await service.owner("acme");
  await service.db.sql`
    insert into iam.identities (provider, subject, user_id, password_hash)
    select 'password', user_id, user_id, ${await hash(PASSWORD)} from iam.users where email = ${EMAIL}`;
});
afterAll(() => service.stop());

const browser = usePage();
let authorization: DeviceAuthorizationResponse;
beforeEach(async () => {
  await browser.page.context().clearCookies();
  authorization = await service.ask();
});

const heading = () => browser.page.getByRole("heading", { level: 1 }).innerText();

/** Waits for the focus: the browser moves it to the first field of a new page only when it renders the field. */
async function expectFocus(idOrText: string): Promise<void> {
  const focused = () => browser.page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()");
  await expect.poll(focused).toBe(idOrText);
}

/** Presses a key that submits a form, and waits for the resulting page. */
async function send(key: string): Promise<void> {
  await Promise.all([browser.page.waitForEvent("load"), browser.page.keyboard.press(key)]);
}

/** Signs in by keyboard only: the first field already has the focus. */
async function signIn(): Promise<void> {
  const { keyboard } = browser.page;
  await expectFocus("email");
  await keyboard.type(EMAIL);
  await keyboard.press("Tab");
  await keyboard.type(PASSWORD);
  await send("Enter");
}

describe("a person with a keyboard", () => {
  it("is led to sign in, sees which device asks, approves, and the device gets its token", async () => {
    const { page, complaints } = browser;
    expect((await service.refused(authorization.device_code)).error).toBe("authorization_pending");

    await page.goto(authorization.verification_uri_complete!);
    expect(new URL(page.url()).pathname).toBe("/login");
    await signIn();

    expect(page.url()).toBe(authorization.verification_uri_complete);
    expect(await heading()).toBe("Sign in a device");
    await expectFocus("user_code");
    expect(await page.getByLabel("Code").inputValue()).toBe(authorization.user_code);
    await send("Enter");

    expect(await heading()).toBe("Approve this device?");
    for (const next of ["Skip to the content", "svc", "Documentation", "Approve", "Deny"]) {
      await page.keyboard.press("Tab");
      await expectFocus(next);
    }
    await page.keyboard.press("Shift+Tab");
    await send("Enter");

    expect(await heading()).toBe("Device approved");
    const { access_token: token } = await service.poll(authorization.device_code);
    const reply = await service.request("GET", "/whoami", { by: { ...owner, token } });
    expect(reply.status).toBe(200);
    expect(complaints).toEqual([]);
  });

  it("types the code and denies", async () => {
    const { page, complaints } = browser;
    await page.goto(authorization.verification_uri);
    await signIn();
    await expectFocus("user_code");
    await page.keyboard.type(authorization.user_code.toLowerCase().replace("-", ""));
    await send("Enter");
    expect(await heading()).toBe("Approve this device?");
    await page.getByRole("button", { name: "Deny" }).focus();
    await send("Space");
    expect(await heading()).toBe("Device denied");
    expect((await service.refused(authorization.device_code)).error).toBe("access_denied");
    expect(complaints).toEqual([]);
  });
});

describe("the pages are accessible, wide or narrow, light or dark", () => {
  const button = (name: string) => browser.page.getByRole("button", { name, exact: true });
  async function look(name: string): Promise<void> {
    const { page } = browser;
    expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    expect(await page.title()).toMatch(/\S · svc$/);
    expect(await faultsOf(page), name).toEqual([]);
  }

  it("to sign in, and to enter a code", async () => {
    const { page } = browser;
    await page.goto(authorization.verification_uri);
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByLabel("Password").fill("wrong");
    await button("Sign in").click();
    expect(await page.getByRole("alert").innerText()).not.toBe("");
    await look("login-wrong");
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await button("Sign in").click();
    await page.getByLabel("Code").fill("BCDF-GHJK");
    await button("Continue").click();
    expect(await page.getByLabel("Code").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("alert").innerText()).toContain("No device is waiting with this code.");
    await look("device-unknown");
  });

  it("to decide, and about what was decided", async () => {
    const { page } = browser;
    await page.goto(authorization.verification_uri_complete!);
    await signIn();
    await button("Continue").click();
    expect(await page.getByRole("term").allInnerTexts()).toEqual(["Code", "Program", "Address", "Requested"]);
    expect(await button("Deny").count()).toBe(1);
    await look("confirm");
    await button("Approve").click();
    expect(await page.getByRole("status").innerText()).not.toBe("");
    await look("approved");

    await page.goto(`${service.url}/device`);
    await page.context().clearCookies();
    await page.getByLabel("Code").fill(authorization.user_code);
    await button("Continue").click();
    // Signed out: the code is kept while one signs in again.
    await page.waitForURL(/\/login\?next=%2Fdevice%3Fuser_code%3D/);
    await page.context().clearCookies();
    await page.getByLabel("E-mail address").fill("ada@example.com");
    await page.getByLabel("Password").fill("x");
    await button("Sign in").click();
    expect(await page.getByRole("alert").innerText()).not.toBe("");
    await look("error");
  });
});

describe("another site", () => {
  let elsewhere: Server;
  let shown = "";
  beforeAll(async () => {
    elsewhere = createServer((_request, response) => response.setHeader("Content-Type", "text/html").end(shown));
    await new Promise<void>((resolve) => elsewhere.listen(0, "localhost", resolve));
  });
  afterAll(() => new Promise((resolve) => elsewhere.close(resolve)));
  beforeEach(async () => {
    await browser.page.goto(authorization.verification_uri);
    await signIn();
  });
  const visit = (html: string) => {
    shown = `<!doctype html>${html}`;
    return browser.page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
  };
  const stillWaits = async () =>
    expect((await service.refused(authorization.device_code)).error).toMatch(/^(authorization_pending|slow_down)$/);

  it("cannot make the browser approve", async () => {
    const { page } = browser;
    await visit(`<form method="post" action="${service.url}/device">
      <input name="user_code" value="${authorization.user_code}"><input name="decision" value="approve"><button>Win</button></form>`);
    await page.getByRole("button", { name: "Win" }).click();
    await page.waitForURL(`${service.url}/device`);
    expect(await heading()).toBe("The form came from another site");
    await stillWaits();
  });

  it("cannot frame the page", async () => {
    await visit(`<iframe src="${authorization.verification_uri_complete}"></iframe>`);
    await expect.poll(() => browser.complaints.join("\n")).toContain("frame-ancestors");
    expect(await browser.page.frames()[1]!.getByLabel("Code").count()).toBe(0);
    await stillWaits();
  });
});
