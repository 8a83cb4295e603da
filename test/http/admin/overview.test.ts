import { describe, expect, it } from "vitest";
import { snapshot } from "../../support/service.js";
import { useApi } from "./support/api.js";

const api = useApi();
const overview = () => api.read("/overview?env=test");

describe("GET /projects/:project/overview", () => {
  it("is all zero before anything happened", async () => {
    expect(await overview()).toEqual({
      environment: "test",
      configVersion: null,
      customers: 0,
      customersDue: 0,
      customersSetAside: 0,
      events: { accepted: 0, pending: 0, ahead: 0 },
      lifecycle: [],
      segments: [],
      emissions: {},
      webhooks: { delivered: 0, pending: 0, failed: 0 },
    });
  });

  it("counts everything, the funnel in the author's order and by the present history", async () => {
    await api.post("/config-versions", { snapshot: snapshot() });
    const { sql } = api;
    const id = await api.environmentId();
    await sql`insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
      values (${id}, 1, gen_random_uuid(), now(), 7, 2, false), (${id}, 2, gen_random_uuid(), now(), 1, 0, true)`;
    await sql`insert into svc.inbox (environment_id, customer_id, seq, not_before)
      values (${id}, 'a', 1024, null), (${id}, 'a', 1025, '2999-01-01Z'), (${id}, 'd', 1026, 'infinity')`;
    await sql`insert into svc.customers (environment_id, customer_id, created_at, lifecycle, next_due_at, set_aside_at, generation)
      values (${id}, 'a', now(), 'active', now(), null, 0), (${id}, 'b', now(), 'new', '2026-01-01Z', null, 1),
        (${id}, 'c', now(), 'retired', '2999-01-01Z', null, 0), (${id}, 'd', now(), null, now(), now(), 0),
        (${id}, 'e', now(), null, null, null, 1)`;
    // b was active once, but a recompute found otherwise; one of e was under a model without a lifecycle.
    await sql`insert into svc.lifecycle_transitions (
        environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, generation
      )
      values
        (${id}, 'a', null, 'new', now(), 'event', 0), (${id}, 'a', 'new', 'active', now(), 'event', 0),
        (${id}, 'b', null, 'new', now(), 'event', 0), (${id}, 'b', 'new', 'active', now(), 'event', 0),
        (${id}, 'b', null, 'new', now(), 'job', 1), (${id}, 'c', null, 'retired', now(), 'event', 0),
        (${id}, 'e', null, 'new', now(), 'event', 0), (${id}, 'e', 'new', 'active', now(), 'event', 0)`;
    await sql`insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
      values (${id}, 'paying', 'a', now(), null), (${id}, 'paying', 'b', now(), now()), (${id}, 'old', 'c', now(), null)`;
    await sql`insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
      values (${id}, 'whk_1', 'https://example.com', '{*}', '')`;
    await sql`insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type
      )
      select ${id}, n, 'a', 'customer.active', 'lifecycle', '{}', now(), 'event' from generate_series(1, 4) as n`;
    await sql`insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, finished_at)
      values (${id}, 'whk_1', 1, 'delivered', now()), (${id}, 'whk_1', 2, 'delivered', now()),
        (${id}, 'whk_1', 3, 'failed', now()), (${id}, 'whk_1', 4, 'pending', null)`;

    expect(await overview()).toEqual({
      environment: "test",
      configVersion: "v1",
      customers: 5,
      customersDue: 2,
      customersSetAside: 1,
      events: { accepted: 8, pending: 3, ahead: 1 },
      lifecycle: [
        { state: "new", customers: 1, everEntered: 2 },
        { state: "active", customers: 1, everEntered: 1 },
        { state: "retired", customers: 1, everEntered: 1 },
      ],
      segments: [
        { segment: "paying", members: 1 },
        { segment: "chosen", members: 0 },
        { segment: "old", members: 1 },
      ],
      webhooks: { delivered: 2, pending: 1, failed: 1 },
      emissions: { "customer.active": 4 },
    });
  });
});
