import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hash } from "@node-rs/argon2";
import type { DeviceAuthorizationResponse } from "oauth4webapi";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startOAuthService, type OAuthService } from "../http/oauth/fixture.js";
import { launchChromium } from "../support/chromium.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import type { Actor } from "../support/service.js";
import { openScreenshots, type Screenshots } from "./screenshots.js";

const EMAIL = "owner@acme.example";
const PASSWORD = "correct horse battery staple";

let launched: Browser | string;
let service: OAuthService;
let owner: Actor;
let screenshots: Screenshots;
beforeAll(async () => {
  launched = await launchChromium();
  service = await startOAuthService();
  owner = await service.owner("acme");
  await service.db.sql`
    insert into iam.identities (provider, subject, user_id, password_hash)
    select 'password', user_id, user_id, ${await hash(PASSWORD)} from iam.users where email = ${EMAIL}`;
  screenshots = await openScreenshots();
}, INSTALL_MS_MAX);
afterAll(async () => {
  if (typeof launched !== "string") await launched.close();
  await screenshots.remove();
  await service.stop();
});

let context: BrowserContext;
let page: Page;
let authorization: DeviceAuthorizationResponse;
/** Script errors and policy violations that the browser reported. */
let complaints: string[];
beforeEach(async ({ skip }) => {
  if (typeof launched === "string") return skip(launched);
  context = await launched.newContext();
  page = await context.newPage();
  complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  authorization = await service.ask();
});
afterEach(async () => {
  if (typeof launched !== "string") await context.close();
});

const heading = () => page.getByRole("heading", { level: 1 }).innerText();

/** Waits for the focus: the browser moves it to the first field of a new page only when it renders the field. */
async function expectFocus(idOrText: string): Promise<void> {
  const focused = () => page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()");
  await expect.poll(focused).toBe(idOrText);
}

/** Presses a key that submits a form, and waits for the resulting page. */
async function send(key: string): Promise<void> {
  await Promise.all([page.waitForEvent("load"), page.keyboard.press(key)]);
}

/** Signs in by keyboard only: the first field already has the focus. */
async function signIn(): Promise<void> {
  await expectFocus("email");
  await page.keyboard.type(EMAIL);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await send("Enter");
}

describe("a person with a keyboard", () => {
  it("is led to sign in, sees which device asks, approves, and the device gets its token", async () => {
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

describe("the pages", () => {
  it("label their elements, and fit a phone", async () => {
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const tooWide: Record<string, string[]> = {};
    const look = async (name: string) => {
      expect(await page.getByRole("main").count()).toBe(1);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      expect(await page.title()).toMatch(/\S · svc$/);
      tooWide[name] = await screenshots.take(page, name);
    };

    await page.goto(authorization.verification_uri);
    await look("login");
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByLabel("Password").fill("wrong");
    await button("Sign in").click();
    expect(await page.getByRole("alert").innerText()).not.toBe("");
    await look("login-wrong");
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await button("Sign in").click();
    await look("device");

    await page.getByLabel("Code").fill("BCDF-GHJK");
    await button("Continue").click();
    expect(await page.getByLabel("Code").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByRole("alert").innerText()).toContain("No device is waiting with this code.");
    await look("device-unknown");

    await page.getByLabel("Code").fill(authorization.user_code);
    await button("Continue").click();
    expect(await page.getByRole("term").allInnerTexts()).toEqual(["Code", "Program", "Address", "Requested"]);
    expect(await button("Deny").count()).toBe(1);
    await look("confirm");
    await button("Approve").click();
    expect(await page.getByRole("status").innerText()).not.toBe("");
    await look("approved");

    const { user_code: denied } = await service.ask();
    await page.goto(`${service.url}/device?user_code=${denied}`);
    await button("Continue").click();
    await button("Deny").click();
    await look("denied");

    await page.goto(`${service.url}/device`);
    await context.clearCookies();
    await page.getByLabel("Code").fill(denied);
    await button("Continue").click();
    expect(await page.getByRole("alert").innerText()).not.toBe("");
    await look("error");
    expect(Object.entries(tooWide).filter(([, sizes]) => sizes.length > 0)).toEqual([]);
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
    await page.goto(authorization.verification_uri);
    await signIn();
  });
  const visit = (html: string) => {
    shown = `<!doctype html>${html}`;
    return page.goto(`http://localhost:${(elsewhere.address() as AddressInfo).port}/`);
  };
  const stillWaits = async () =>
    expect((await service.refused(authorization.device_code)).error).toMatch(/^(authorization_pending|slow_down)$/);

  it("cannot make the browser approve", async () => {
    await visit(`<form method="post" action="${service.url}/device">
      <input name="user_code" value="${authorization.user_code}"><input name="decision" value="approve"><button>Win</button></form>`);
    await page.getByRole("button", { name: "Win" }).click();
    await page.waitForURL(`${service.url}/device`);
    expect(await heading()).toBe("The form came from another site");
    await stillWaits();
  });

  it("cannot frame the page", async () => {
    await visit(`<iframe src="${authorization.verification_uri_complete}"></iframe>`);
    await expect.poll(() => complaints.join("\n")).toContain("frame-ancestors");
    expect(await page.frames()[1]!.getByLabel("Code").count()).toBe(0);
    await stillWaits();
  });
});
