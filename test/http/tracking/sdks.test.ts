import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { docBlocks } from "../../support/doc-blocks.js";
import { violations } from "../../support/invariants.js";
import { useIngest } from "../ingest/fixture.js";
import { SDKS, senderOf } from "../../../faults/tracking/senders.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

const MODEL: Partial<Snapshot> = {
  strictSchema: true,
  events: {
    project_created: { properties: { seats: { type: "number" }, plan_name: { type: "string", optional: true } } },
    "Report Run": { properties: {} },
    order: { properties: {} },
  },
  traits: { plan: { type: "string" }, company_name: { type: "string" } },
};
const ACCOUNTS = { ...MODEL, tracking: { customer: ["groupId" as const], events: { "Order Completed": "order" } } };

beforeEach(async () => {
  await sql`truncate svc.events, svc.trait_updates, svc.inbox, svc.ingest_batches, svc.idempotency_keys,
    svc.quarantined_operations, svc.quarantines`;
  await sql`update svc.key_usage set month_events = 0`;
});

const events = () => sql`select customer_id as customer, event, properties from svc.events order by event_seq`;
const updates = () => sql`select customer_id as customer, traits from svc.trait_updates order by operation_seq`;
const kept = () => sql`
  select code, path, call ->> 'type' as type, customer_id as customer from svc.quarantined_operations order by seq`;

describe.each(SDKS)("the SDK of %s, with nothing but host and key", (sdk) => {
  const sender = () => senderOf(sdk, fixture.service.url, fixture.keys.test);

  it("has its calls stored in order, under the names that the model declares", async () => {
    await fixture.deploy(MODEL);
    const analytics = sender();
    analytics.identify({ userId: "u1", traits: { plan: "pro", companyName: "Globex" } });
    analytics.track({ userId: "u1", event: "Project Created", properties: { seats: 5, planName: "team" } });
    analytics.track({ userId: "u1", event: "Report Run", timestamp: new Date("2026-03-01T10:00:00Z") });
    analytics.page({ userId: "u1", name: "Pricing" });
    analytics.group({ userId: "u1", groupId: "g1", traits: { plan: "x" } });
    await analytics.close();
    expect(await updates()).toEqual([{ customer: "u1", traits: { plan: "pro", company_name: "Globex" } }]);
    expect(await events()).toEqual([
      { customer: "u1", event: "project_created", properties: { seats: 5, plan_name: "team" } },
      { customer: "u1", event: "Report Run", properties: {} },
    ]);
    expect(await kept()).toEqual([]);
    expect(await violations(sql)).toEqual([]);
  });

  it("has the group as the customer if the model says so", async () => {
    await fixture.deploy(ACCOUNTS);
    const analytics = sender();
    analytics.group({ userId: "u1", groupId: "g1", traits: { plan: "pro" } });
    analytics.identify({ userId: "u1", traits: { plan: "of the user" } });
    analytics.track({ userId: "u1", event: "Order Completed", context: { groupId: "g1" } });
    analytics.track({ userId: "u1", event: "Order Completed" });
    await analytics.close();
    expect(await updates()).toEqual([{ customer: "g1", traits: { plan: "pro" } }]);
    expect(await events()).toEqual([{ customer: "g1", event: "order", properties: {} }]);
    expect(await kept()).toEqual([{ code: "MISSING_CUSTOMER", path: "context.groupId", type: "track", customer: "" }]);
    expect(await violations(sql)).toEqual([]);
  });

  it("loses nothing that the schema refuses: it is kept, and released once the model accepts it", async () => {
    await fixture.deploy(MODEL);
    const analytics = sender();
    analytics.track({ userId: "u1", event: "Order Completed", timestamp: new Date("2026-03-01T10:00:00Z") });
    analytics.track({ userId: "u1", event: "Project Created", properties: { seats: "5" } });
    analytics.alias({ userId: "u1", previousId: "u0" });
    analytics.track({ userId: "u1", event: "order" });
    await analytics.close();
    expect(await events()).toEqual([{ customer: "u1", event: "order", properties: {} }]);
    expect((await kept()).map(({ code }) => code as string)).toEqual(["UNKNOWN_EVENT", "INVALID_PROPERTY_TYPE"]);
    expect(await violations(sql)).toEqual([]);

    await fixture.deploy({ ...MODEL, tracking: { customer: ["userId"], events: { "Order Completed": "order" } } });
    const request = { by: fixture.owner, body: {} };
    const { body } = await fixture.service.request("POST", "/projects/app/quarantine/release", request);
    expect(body).toEqual({ released: 1, kept: 1, expired: 0, nextCursor: null });
    expect(await events()).toHaveLength(2);
    const [{ at }] = (await sql`
      select svc.iso(occurred_at) as at from svc.events order by event_seq limit 1`) as unknown as [{ at: string }];
    // Up to the skew between sender and service, which share a clock.
    expect(Math.abs(Date.parse(at) - Date.parse("2026-03-01T10:00:00Z"))).toBeLessThan(60_000);
    expect(await violations(sql)).toEqual([]);
  });
});

it("docs/segment.md creates the SDKs as these tests do, and its mapping is part of a compiled example", () => {
  const read = (file: string) => readFileSync(path.resolve(import.meta.dirname, "../../..", file), "utf8");
  const [setup, python, mapped] = docBlocks(read("docs/segment.md")).map(({ code }) => code);
  const senders = read("faults/tracking/senders.ts");
  for (const name of ["writeKey", "host:", "dataPlaneUrl", "retryCount"]) {
    expect(setup).toContain(name);
    expect(senders).toContain(name);
  }
  expect(python).toMatch(/analytics\.write_key = .*\nanalytics\.host = /);
  expect(read("docs/dsl.md")).toContain(/tracking\(.*\)/.exec(mapped!)![0]);
});
