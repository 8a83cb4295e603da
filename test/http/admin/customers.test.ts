import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { environmentId, envelope, snapshot, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
const get = (path: string) => service.request("GET", `/projects/app${path}`, { by: owner });

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
  await service.request("POST", "/projects/app/config-versions", { by: owner, body: { snapshot: snapshot() } });
  const { sql } = service.db;
  const id = await environmentId(sql, "app", "test");
  await sql`
    insert into svc.customers (
      environment_id, customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through,
      next_due_at, config_version
    )
    values
      (${id}, 'b', '2026-01-01Z', '{"z": 12345678901234567890, "plan": "pro", "a": [1]}', 'active', '2026-01-02 03:04:05.678Z',
        '2026-01-03Z', '2026-01-04Z', '2026-02-01Z', 1),
      (${id}, 'B/ä?', '2026-01-01Z', '{}', 'new', '2026-01-01Z', now(), now(), null, 1),
      (${id}, 'c', now(), '{}', null, null, null, null, null, null)`;
  await sql`
    insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
    values
      (${id}, 'paying', 'b', '2026-01-02Z', null), (${id}, 'chosen', 'b', '2026-01-03Z', null),
      (${id}, 'gone', 'b', '2026-01-01Z', '2026-01-02Z'), (${id}, 'paying', 'B/ä?', '2026-01-01Z', null)`;
  await sql`
    update svc.customers set health = '{"overall":66.5,"components":{"z":100,"a":33.33},"band":"at_risk"}'
    where environment_id = ${id} and customer_id = 'b'`;
  await sql`
    insert into svc.journey_runs (
      environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at, expired_at
    )
    values
      (${id}, 'b', 'trial', 1, 'expired', 'buy', '{}', '2026-01-01Z', null, '2026-01-02Z'),
      (${id}, 'b', 'trial', 2, 'complete', 'buy',
        '{"look":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"timer"},"buy":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"evt_1"}}',
        '2026-01-02Z', '2026-01-03Z', null),
      (${id}, 'b', 'onboarding', 1, 'active', 'invite', '{}', '2026-01-01Z', null, null)`;
  await sql`
    insert into svc.signals (environment_id, customer_id, signal_id, severity, message, raised_at, cleared_at)
    values
      (${id}, 'b', 'quiet', 'warning', 'Gone_quiet', '2026-01-03Z', null), (${id}, 'b', 'hot', 'info', null, '2026-01-04Z', null),
      (${id}, 'b', 'over', 'critical', null, '2026-01-01Z', '2026-01-02Z')`;
  await sql`
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    values
      (${id}, 65536, 'b', 'customer.created', 'lifecycle', '{"new_lifecycle": "new"}', '2026-01-01Z', 'identify', null, null),
      (${id}, 131072, 'b', 'customer.active', 'lifecycle', '{}', '2026-01-02Z', 'event', 'evt_0000000000000400', 1),
      (${id}, 131073, 'b', 'segment.entered', 'segment', '{"segment": "paying"}', '2026-01-02Z', 'timer', null, 1)`;
});
afterAll(() => service.stop());

describe("GET /projects/:project/customers/:customerId", () => {
  it("answers the state document, its members in their order, numbers exact", async () => {
    const response = await fetch(`${service.url}/projects/app/customers/b?env=test`, {
      headers: { Authorization: `Bearer ${owner.token}`, "X-Svc-Organization": owner.organizationId },
    });
    const text = await response.text();
    expect(response.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    expect(text.replaceAll(/\s/g, "")).toBe(
      '{"customerId":"b","environment":"test","createdAt":"2026-01-01T00:00:00.000Z","lastEventAt":"2026-01-03T00:00:00.000Z",' +
        '"evaluatedThrough":"2026-01-04T00:00:00.000Z","configVersion":"v1",' +
        '"traits":{"a":[1],"plan":"pro","z":12345678901234567890},"lifecycle":"active",' +
        '"lifecycleEnteredAt":"2026-01-02T03:04:05.678Z","segments":["chosen","paying"],' +
        '"health":{"overall":66.5,"components":{"z":100,"a":33.33},"band":"at_risk"},"journeys":[' +
        '{"journeyId":"onboarding","status":"active","currentStep":"invite","stepsData":{},' +
        '"startedAt":"2026-01-01T00:00:00.000Z","completedAt":null,"expiredAt":null},' +
        '{"journeyId":"trial","status":"complete","currentStep":"buy","stepsData":{' +
        '"look":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"timer"},' +
        '"buy":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"evt_1"}},' +
        '"startedAt":"2026-01-02T00:00:00.000Z","completedAt":"2026-01-03T00:00:00.000Z","expiredAt":null}],' +
        '"signals":[{"signalId":"hot","severity":"info","message":null,"raisedAt":"2026-01-04T00:00:00.000Z"},' +
        '{"signalId":"quiet","severity":"warning","message":"Gone_quiet","raisedAt":"2026-01-03T00:00:00.000Z"}],' +
        '"nextDueAt":"2026-02-01T00:00:00.000Z"}',
    );
  });

  it("answers for a customer that was never evaluated, and for an id of any characters", async () => {
    expect(await get("/customers/c")).toMatchObject({
      status: 200,
      body: { customerId: "c", configVersion: null, lifecycle: null, lastEventAt: null, segments: [] },
    });
    expect(await get(`/customers/${encodeURIComponent("B/ä?")}`)).toMatchObject({
      status: 200,
      body: { customerId: "B/ä?" },
    });
  });

  it.each(["", "/timeline"])("answers CUSTOMER_NOT_FOUND for an unknown customer%s", async (rest) => {
    for (const path of [`/customers/x${rest}`, `/customers/b${rest}?env=live`]) {
      const reply = await get(path);
      expect(reply.status).toBe(404);
      const id = path.charAt("/customers/".length);
      expect(reply.body).toEqual(
        envelope("CUSTOMER_NOT_FOUND", `There is no customer "${id}" in this environment.`, {
          reason: "A customer exists from the evaluation of its first operation on.",
        }),
      );
    }
  });

  it("refuses a customer id that cannot exist", async () => {
    const reply = await get("/customers/%00");
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      envelope("VALIDATION_ERROR", "`customerId` is not valid text.", {
        field: "customerId",
        reason: "The character U+0000 cannot be stored in text.",
      }),
    );
    expect((await get(`/customers/${"x".repeat(5000)}`)).status).toBe(404);
    expect((await get("/customers/%E0%A4%A")).status).toBe(400);
  });
});

describe("GET /projects/:project/customers/:customerId/timeline", () => {
  it("lists emissions oldest first, in pages", async () => {
    const first = await get("/customers/b/timeline?limit=2");
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      data: [
        {
          id: "emi_0000000000010000",
          at: "2026-01-01T00:00:00.000Z",
          type: "customer.created",
          source: "lifecycle",
          metadata: { new_lifecycle: "new" },
          cause: { type: "identify", id: null },
          configVersion: null,
        },
        {
          id: "emi_0000000000020000",
          at: "2026-01-02T00:00:00.000Z",
          type: "customer.active",
          source: "lifecycle",
          metadata: {},
          cause: { type: "event", id: "evt_0000000000000400" },
          configVersion: "v1",
        },
      ],
      nextCursor: expect.any(String) as string,
    });
    const { nextCursor } = first.body as { nextCursor: string };
    const second = await get(`/customers/b/timeline?limit=2&cursor=${nextCursor}`);
    expect(second.body).toMatchObject({
      data: [{ type: "segment.entered", cause: { type: "timer" } }],
      nextCursor: null,
    });
  });
});

describe("GET /projects/:project/customers", () => {
  const ids = async (query: string) => {
    const reply = await get(`/customers?${query}`);
    expect(reply.status).toBe(200);
    return (reply.body as { data: { customerId: string }[] }).data.map((customer) => customer.customerId);
  };

  /** Of all pages, of one customer each unless the query says otherwise. */
  const pages = async (query: string) => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await get(`/customers?${query.includes("limit=") ? "" : "limit=1&"}${query}${cursor}`);
      const page = body as { data: { customerId: string }[]; nextCursor: string | null };
      seen.push(...page.data.map((customer) => customer.customerId));
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    return seen;
  };

  it("lists customers by id with their state", async () => {
    const reply = await get("/customers?limit=1");
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data: [
        {
          customerId: "B/ä?",
          lifecycle: "new",
          lifecycleEnteredAt: "2026-01-01T00:00:00.000Z",
          segments: ["paying"],
          health: null,
          journeys: [],
          lastEventAt: expect.any(String) as string,
          createdAt: "2026-01-01T00:00:00.000Z",
          setAside: null,
        },
      ],
      nextCursor: expect.any(String) as string,
    });
  });

  it("filters by lifecycle, segment and inactivity, alone and together", async () => {
    expect(await ids("")).toEqual(["B/ä?", "b", "c"]);
    expect(await ids("lifecycle=active")).toEqual(["b"]);
    expect(await ids("segment=paying")).toEqual(["B/ä?", "b"]);
    expect(await ids("segment=gone")).toEqual([]);
    expect(await ids("inactive=1d")).toEqual(["b"]);
    expect(await ids("lifecycle=new&segment=paying&inactive=1d")).toEqual([]);
    expect(await ids("lifecycle=active&segment=paying&inactive=1d")).toEqual(["b"]);
    expect(await ids("env=live")).toEqual([]);
  });

  it("continues after the last customer of the page before", async () => {
    expect(await pages("")).toEqual(["B/ä?", "b", "c"]);
  });

  it("lists those inactive the longest first where it is asked for the inactive, in pages", async () => {
    const { sql } = service.db;
    const id = await environmentId(sql, "app", "live");
    // d never had an event; a and c were last seen at the same instant.
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, lifecycle, last_event_at, set_aside_at)
      values
        (${id}, 'a', '2026-01-01Z', 'new', '2026-02-03 00:00:00.000001Z', null),
        (${id}, 'b', '2026-01-01Z', 'new', '2026-02-01Z', now()),
        (${id}, 'c', '2026-01-01Z', 'active', '2026-02-03 00:00:00.000001Z', now()),
        (${id}, 'd', '2026-02-02Z', 'new', null, null),
        (${id}, 'e', '2026-01-01Z', 'new', now(), null)`;
    await sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      select ${id}, 'payers', k, now() from unnest('{a,c,d}'::text[]) as k`;
    expect(await ids("env=live&inactive=1d")).toEqual(["b", "d", "a", "c"]);
    expect(await ids("env=live&inactive=1d&lifecycle=new")).toEqual(["b", "d", "a"]);
    expect(await ids("env=live&inactive=1d&segment=payers")).toEqual(["d", "a", "c"]);
    expect(await ids("env=live&inactive=1d&segment=payers&lifecycle=new")).toEqual(["d", "a"]);
    expect(await ids("env=live&inactive=1d&setAside=true")).toEqual(["b", "c"]);
    expect(await pages("env=live&inactive=1d")).toEqual(["b", "d", "a", "c"]);
    expect(await pages("env=live&inactive=1d&segment=payers")).toEqual(["d", "a", "c"]);
  });

  it("has everybody once in its pages whichever filter it is read by, and says where reading ended before a page was full", async () => {
    const { sql } = service.db;
    const id = await environmentId(sql, "app", "live");
    // Large sets that hardly meet: every filter passes more than a page reads.
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, lifecycle, last_event_at)
      select ${id}, 'many-' || lpad(n::text, 5, '0'), '2026-01-01Z', case when n % 2 = 0 then 'even' else 'odd' end, '2025-06-01Z'::timestamptz + n * interval '1 s'
      from generate_series(1, 6000) as n`;
    await sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      select ${id}, 'odd_ones', 'many-' || lpad(n::text, 5, '0'), now() from generate_series(1, 6000) as n where n % 2 = 1 or n = 5000`;
    for (const query of ["lifecycle=even&segment=odd_ones", "lifecycle=even&segment=odd_ones&inactive=1d"]) {
      const first = (await get(`/customers?env=live&${query}`)).body as { data: unknown[]; nextCursor: string | null };
      expect({ query, data: first.data, goesOn: first.nextCursor !== null }).toEqual({ query, data: [], goesOn: true });
      expect(await pages(`env=live&${query}`)).toEqual(["many-05000"]);
    }
    expect(await pages("env=live&lifecycle=even&limit=200")).toHaveLength(3000);
    expect(await pages("env=live&segment=odd_ones&inactive=1d&limit=200")).toHaveLength(3001);
  });

  it("refuses a cursor of the other order", async () => {
    const { nextCursor } = (await get("/customers?limit=1")).body as { nextCursor: string };
    const reply = await get(`/customers?limit=1&inactive=1d&cursor=${nextCursor}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      envelope("VALIDATION_ERROR", "The cursor is not one of this list.", {
        field: "cursor",
        fix: "Pass nextCursor of the page before, unchanged, with the same filters.",
      }),
    );
  });

  it("refuses what is no duration", async () => {
    const reply = await get("/customers?inactive=soon");
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      envelope("VALIDATION_ERROR", "`inactive` is not a duration.", {
        field: "inactive",
        value: "soon",
        fix: "Write a whole number and a unit, for example 12h, 7d or 4w.",
      }),
    );
  });
});

describe("GET /projects/:project/segments/:segment", () => {
  it("answers the size, definition, statistics and the members, in pages", async () => {
    const first = await get("/segments/paying?limit=1");
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      segment: "paying",
      members: 2,
      definition: { id: "paying", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } },
      statistics: {
        lifecycle: { active: 1, new: 1 },
        health: { scored: 1, average: 66.5, bands: { at_risk: 1 } },
        lastEvent: { within1d: 1, within7d: 1, within30d: 1, older: 1, never: 0 },
        enteredWithin7d: 0,
      },
      data: [{ customerId: "B/ä?", enteredAt: "2026-01-01T00:00:00.000Z" }],
      nextCursor: expect.any(String) as string,
    });
    const { nextCursor } = first.body as { nextCursor: string };
    expect((await get(`/segments/paying?limit=1&cursor=${nextCursor}`)).body).toEqual({
      segment: "paying",
      members: 2,
      data: [{ customerId: "b", enteredAt: "2026-01-02T00:00:00.000Z" }],
      nextCursor: null,
    });
  });

  it("has statistics of nobody for a segment without members", async () => {
    expect((await get("/segments/nobody")).body).toMatchObject({ error: { code: "SEGMENT_NOT_FOUND" } });
    const { sql } = service.db;
    const id = await environmentId(sql, "app", "test");
    await sql`update svc.segment_memberships set exited_at = now() where environment_id = ${id} and segment_id = 'chosen'`;
    const reply = await get("/segments/chosen");
    await sql`update svc.segment_memberships set exited_at = null where environment_id = ${id} and segment_id = 'chosen'`;
    expect(reply.body).toEqual({
      segment: "chosen",
      members: 0,
      definition: { id: "chosen" },
      statistics: {
        lifecycle: {},
        health: { scored: 0, average: null, bands: {} },
        lastEvent: { within1d: 0, within7d: 0, within30d: 0, older: 0, never: 0 },
        enteredWithin7d: 0,
      },
      data: [],
      nextCursor: null,
    });
  });

  it("has the members of a segment that the active version does not define", async () => {
    const { sql } = service.db;
    const id = await environmentId(sql, "app", "test");
    await sql`update svc.segment_memberships set segment_id = 'former' where environment_id = ${id} and segment_id = 'chosen'`;
    const reply = await get("/segments/former");
    await sql`update svc.segment_memberships set segment_id = 'chosen' where environment_id = ${id} and segment_id = 'former'`;
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ segment: "former", definition: null });
  });

  it("answers SEGMENT_NOT_FOUND where neither the model nor a customer knows it", async () => {
    for (const path of ["/segments/gone", "/segments/paying?env=live"]) {
      const reply = await get(path);
      const name = path.includes("gone") ? "gone" : "paying";
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual(
        envelope("SEGMENT_NOT_FOUND", `There is no segment "${name}" in this environment.`, {
          fix: "Check the id and the environment; the overview lists the segments.",
        }),
      );
    }
  });
});
