import { beforeAll, expect, it } from "vitest";
import { userIdOf } from "../http/admin/organization/support.js";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf } from "../support/axe.js";
import { useConsole } from "./support/page.js";

/** Of 256 characters, without a place where it could be broken. */
const LONG = `<script>${"x".repeat(248)}`;

const fixture = useSpec();
/** What the addresses of pages name. */
const named = { member: "", invitation: "", key: "", token: "" };
beforeAll(async () => {
  const make = async (path: string, body: object) => {
    const made = await fixture.admin("POST", path, { body });
    expect([path, made.status]).toEqual([path, 201]);
    return made.body as { id: string; key: { id: string } };
  };
  const address = `guest-${"x".repeat(200)}@example.com`;
  named.member = await userIdOf(fixture.service, "owner@acme.example");
  named.invitation = (await make("/organization/invitations", { email: address, role: "viewer" })).id;
  named.key = (await make("/projects/app/keys?env=live", { name: LONG })).key.id;
  named.token = (await make("/organization/tokens", { label: LONG, role: "developer" })).id;
});
const browser = useConsole(fixture);

const addressOf = (path: string) => `${fixture.service.url}/console/acme/app/live/${path}`;

it.each<[string, () => string]>([
  ["settings", () => "settings"],
  ["members", () => "members"],
  ["a member", () => `member?id=${named.member}`],
  ["an invitation", () => `invitation?id=${named.invitation}`],
  ["keys", () => "keys"],
  ["a key", () => `key?id=${named.key}`],
  ["tokens", () => "tokens"],
  ["a token", () => `token?id=${named.token}`],
])("%s: no barrier, wide or narrow, light or dark", async (_, path) => {
  const { page, complaints } = browser;
  await page.goto(addressOf(path()));
  expect(await page.getByText("Not found").count()).toBe(0);
  expect(await faultsOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("somebody is invited by keyboard, and the link is selected at once", async () => {
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

it("whoever only looks meets no barrier either", async () => {
  const { page, complaints } = browser;
  const { sql } = fixture.service.db;
  await sql`update iam.memberships set role = 'viewer' where organization_id = ${fixture.owner.organizationId}`;
  for (const path of ["settings", "members", `member?id=${named.member}`, "keys", `key?id=${named.key}`, "tokens"]) {
    await page.goto(addressOf(path));
    expect(await page.locator("main form").count(), path).toBe(0);
    expect(await faultsOf(page), path).toEqual([]);
  }
  expect(complaints).toEqual([]);
});
