import { beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser, textOf } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const isPro = { kind: "trait", trait: "plan", operator: "eq", value: "pro" } as const;
const DAY_MS = 86_400_000;

let owner: Browser;
beforeAll(async () => {
  owner = await browserOf(fixture.service, "owner@acme.example");
  await fixture.deploy(
    snapshot({
      traits: {
        plan: { type: "string", enum: ["free", "pro"] },
        company: { type: "string", optional: true },
        csm: { type: "string", optional: true },
        renewsOn: { type: "date", optional: true },
      },
      segments: [],
      signals: [{ id: "leaving", severity: "critical", message: "Call them", when: isPro }],
      display: { name: "company", owner: "csm", renewal: "renewsOn" },
    }),
  );
  const renewsOn = new Date(Date.now() + 40.5 * DAY_MS).toISOString();
  await fixture.batch([
    { type: "identify", customerId: "c1", traits: { plan: "pro", company: "Globex", csm: "<b>Ada</b>", renewsOn } },
    { type: "identify", customerId: "c2", traits: { plan: "pro" } },
  ]);
  await fixture.evaluate();
});

it("who looks after a customer and when it is renewed stand beside it wherever one decides whom to call", async () => {
  const today = await owner.get(`${BASE}/today`);
  expect(textOf(today.html)).toMatch(
    /Signal Customer Since Owner Renewal Message .*Globex c1 now <b>Ada<\/b> in 40 days Call/,
  );
  expect(textOf(today.html)).toMatch(/leaving critical c2 now none none Call them/);
  const customers = textOf((await owner.get(`${BASE}/customers`)).html);
  expect(customers).toMatch(/Last event Owner Renewal Globex c1 .* <b>Ada<\/b> in 40 days/);
});
