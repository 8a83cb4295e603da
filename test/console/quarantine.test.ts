import { beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const HOSTILE = "<script>alert(1)</script>";

let owner: Browser;
let viewer: Browser;
beforeAll(async () => {
  const { service } = fixture;
  owner = await browserOf(service, "owner@acme.example");
  await service.member(fixture.owner, "viewer");
  viewer = await browserOf(service, `viewer@${fixture.owner.organizationId}.example`);
  await fixture.deploy(snapshot({ strictSchema: true, onViolation: "quarantine" }));
  await fixture.batch([
    { customerId: "globex", event: HOSTILE },
    { customerId: "acme", event: "logout", properties: { seats: 1 } },
  ]);
});

const textAt = async (browser: Browser, page: string) => (await browser.get(`${BASE}/${page}`)).text;

it("shows quarantined operations, reasons and counts; the diagnostics and events pages link there", async () => {
  const { html, text } = await owner.get(`${BASE}/quarantine`);
  expect(html).not.toContain(HOSTILE);
  expect(text).toMatch(
    /2 operations of at most 100,000, the oldest .*logout acme .*is not declared.* UNKNOWN_EVENT .*seats.*globex/,
  );
  expect((await owner.get(`${BASE}/operations`)).html).toMatch(/<a href="quarantine"><bdi>2 operations are/);
  expect((await owner.get(`${BASE}/events`)).html).toContain('<a href="quarantine">');
  expect(await textAt(owner, "quarantine?code=INVALID_STRUCTURE")).toContain(
    "No operations in quarantine match these filters.",
  );
  expect(await textAt(owner, "quarantine?event=logout+")).toContain(
    "match these filters. A filter begins or ends with a space, which counts.",
  );
});

it("has no button for who may only look", async () => {
  expect(await textAt(viewer, "quarantine")).toMatch(/Your role does not allow you to release operations/);
});

it("shows the complete payload of an operation, and releases it alone", async () => {
  const big = "x".repeat(500);
  await fixture.batch([{ customerId: "acme", event: "orders", properties: { big } }]);
  const list = await owner.get(`${BASE}/quarantine?event=orders`);
  expect(list.html).not.toContain(big);
  const [, page] = /href="(quarantined\?id=qop_[0-9a-f]+)"/.exec(list.html)!;
  const { html, text } = await owner.get(`${BASE}/${page}`);
  expect(html).toContain(big);
  expect(text).toMatch(/acme .*event The event "orders" is not declared.* UNKNOWN_EVENT/);
  expect(await textAt(viewer, page!)).toMatch(/Your role does not allow you to release operations/);
  const events = { ...snapshot().events, orders: { properties: { big: { type: "string" } } } } as const;
  await fixture.deploy(snapshot({ strictSchema: true, onViolation: "quarantine", events }));
  expect((await owner.submit(await owner.get(`${BASE}/${page}`), {}, "quarantined")).status).toBe(303);
  expect(await textAt(owner, "quarantine")).toMatch(/2 operations of at most/);
  expect(await owner.get(`${BASE}/${page}`)).toMatchObject({ status: 404 });
});

it("releases the filtered operations that have become valid", async () => {
  const events = { ...snapshot().events, logout: { properties: { seats: { type: "number" } } } } as const;
  await fixture.deploy(snapshot({ strictSchema: true, onViolation: "quarantine", events }));
  const filtered = await owner.get(`${BASE}/quarantine?event=logout`);
  const done = await owner.submit(filtered, {}, "quarantine");
  expect(done).toMatchObject({ status: 303, location: `${BASE}/quarantine?event=logout&released=1&stay=0` });
  expect((await owner.get(done.location!)).text).toMatch(/1 operation released\. 1 operation of at most/);
  const nothing = await owner.submit(await owner.get(`${BASE}/quarantine`), {}, "quarantine");
  expect((await owner.get(nothing.location!)).text).toContain(
    "0 operations released; 1 operation stays, not accepted by the active version.",
  );
});

it("calls an operation without an event name traits only if it is an identify", async () => {
  const { service, keys } = fixture;
  const headers = { Authorization: `Basic ${Buffer.from(`${keys.test}:`).toString("base64")}` };
  const batch = [
    { type: "track", userId: "nameless" },
    { type: "identify", userId: "traits", traits: [] },
  ];
  expect(await service.request("POST", "/v1/batch", { headers, body: { batch } })).toMatchObject({ status: 200 });
  const { html, text } = await owner.get(`${BASE}/quarantine`);
  expect(text).toMatch(/traits traits .*no name nameless/);
  const [, page] = /href="(quarantined\?id=qop_[0-9a-f]+)"/.exec(html.slice(html.indexOf("no name")))!;
  expect(await textAt(owner, page!)).toContain("Event no name Customer nameless");
});
