import { beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const FILE = "/console/acme/app/test/customers.csv";
/** A spreadsheet would evaluate it as a formula. */
const FORMULA = '=HYPERLINK("https://evil.example","a, b")';
const MANY = 250;

let owner: Browser;
beforeAll(async () => {
  owner = await browserOf(fixture.service, "owner@acme.example");
  await fixture.deploy(snapshot({ display: { name: "plan", owner: "plan" } }));
  await fixture.batch([
    { type: "identify", customerId: FORMULA, traits: { plan: "pro" } },
    ...Array.from({ length: MANY }, (_, n) => ({
      customerId: `c${String(n).padStart(3, "0")}`,
      event: "login",
      properties: { seats: n },
    })),
  ]);
  await fixture.evaluate();
});

const linesOf = (html: string) => html.trimEnd().split("\n");

it("asks to sign in first, and then leads to the page of the list", async () => {
  const { status, location } = await new Browser(fixture.service.url).get(`${FILE}?search=c00`);
  const page = `${FILE.replace(".csv", "")}?search=c00`;
  expect([status, location]).toEqual([303, `/login?next=${encodeURIComponent(page)}`]);
});

it("has all matching customers of all pages, in the displayed order", async () => {
  const { status, headers, html } = await owner.get(FILE);
  expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(headers.get("content-disposition")).toBe('attachment; filename="customers.csv"');
  const [heading, first, ...others] = linesOf(html);
  expect(heading).toBe(
    "customer,name,state,state since,health,band,health a week ago,signals,segments,last event,set aside,owner",
  );
  expect(first).toMatch(/^"'=HYPERLINK\(""https:\/\/evil\.example"",""a, b""\)",pro,new,.*,paying,,,pro$/);
  expect(others.map((line) => line.split(",")[0])).toEqual(
    Array.from({ length: MANY }, (_, n) => `c${String(n).padStart(3, "0")}`),
  );
});

it("has the filtered customers, as linked on the page", async () => {
  const page = await owner.get("/console/acme/app/test/customers?segment=paying&sort=lastEvent");
  expect(page.html).toContain('href="customers.csv?segment=paying&amp;sort=lastEvent"');
  expect(linesOf((await owner.get(`${FILE}?segment=paying`)).html)).toHaveLength(2);
});
