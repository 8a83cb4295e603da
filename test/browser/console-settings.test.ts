import { beforeAll, expect, it } from "vitest";
import { userIdOf } from "../http/admin/organization/support.js";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf } from "../support/axe.js";
import { useConsole } from "./support/page.js";

/** 256 characters that a browser cannot wrap. */
const LONG = `<script>${"x".repeat(248)}`;

const fixture = useSpec();
/** Ids in the addresses of pages. */
const ids = { member: "", invitation: "", key: "", token: "" };
beforeAll(async () => {
  const make = async (path: string, body: object) => {
    const created = await fixture.admin("POST", path, { body });
    expect([path, created.status]).toEqual([path, 201]);
    return created.body as { id: string; key: { id: string } };
  };
  const address = `guest-${"x".repeat(200)}@example.com`;
  ids.member = await userIdOf(fixture.service, "owner@acme.example");
  ids.invitation = (await make("/organization/invitations", { email: address, role: "viewer" })).id;
  ids.key = (await make("/projects/app/keys?env=live", { name: LONG })).key.id;
  ids.token = (await make("/organization/tokens", { label: LONG, role: "developer" })).id;
});
const browser = useConsole(fixture);

const addressOf = (path: string) => `${fixture.service.url}/console/acme/app/live/${path}`;

it.each<[string, () => string]>([
  ["settings", () => "settings"],
  ["members", () => "members"],
  ["a member", () => `member?id=${ids.member}`],
  ["an invitation", () => `invitation?id=${ids.invitation}`],
  ["keys", () => "keys"],
  ["a key", () => `key?id=${ids.key}`],
  ["tokens", () => "tokens"],
  ["a token", () => `token?id=${ids.token}`],
])("%s: accessible, wide or narrow, light or dark", async (_, path) => {
  const { page, complaints } = browser;
  await page.goto(addressOf(path()));
  expect(await page.getByText("Not found").count()).toBe(0);
  expect(await faultsOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("a member is invited by keyboard, and the link is selected at once", async () => {
  const { page, complaints } = browser;
  const press = async (key: string) => Promise.all([page.waitForEvent("load"), page.keyboard.press(key)]);
  await page.goto(addressOf("settings"));
  await page.getByRole("link", { name: "Members" }).focus();
  await press("Enter");
  await page.getByLabel("E-mail address").focus();
  await page.keyboard.type("bob@example.com");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.name")).toBe("role");
  await page.keyboard.type("dev");
  await page.keyboard.press("Tab");
  await press("Enter");
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Invitation for bob@example.com");
  while ((await page.evaluate("document.activeElement.id")) !== "secret") await page.keyboard.press("Tab");
  expect(await page.evaluate("getSelection().toString()")).toMatch(/\/invitation\?token=svc_link_[0-9a-f]{48}$/);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Members" }).focus();
  await press("Enter");
  expect(await page.getByRole("row", { name: "bob@example.com" }).innerText()).toContain("developer");
  expect(complaints).toEqual([]);
});

it("pages are accessible for viewers too", async () => {
  const { page, complaints } = browser;
  const { sql } = fixture.service.db;
  await sql`update iam.memberships set role = 'viewer' where organization_id = ${fixture.owner.organizationId}`;
  for (const path of ["settings", "members", `member?id=${ids.member}`, "keys", `key?id=${ids.key}`, "tokens"]) {
    await page.goto(addressOf(path));
    expect(await page.locator("main form").count(), path).toBe(0);
    expect(await faultsOf(page), path).toEqual([]);
  }
  expect(complaints).toEqual([]);
});
