import { beforeAll, describe, expect, it } from "vitest";
import { refused, TEXT, useApi, type Page } from "./support/api.js";

const api = useApi();
const { read, readAll, text } = api;

type Events = Page<{ id: string }>;
/** A customer's id that begins with a line break. */
const ODD = "\nzoë 1";
/** An id without the common prefix. */
const short = (events: Events["data"]) => events.map(({ id }) => id.replace(/^evt_0+/, ""));
const page = (query: string) => read<Events>(`/events?${query}`);
const ids = async (query: string) => short((await page(query)).data);
/** The ids of all pages. */
const pages = async (query: string) => short((await readAll<{ id: string }>(`/events?${query}`)).items);

beforeAll(async () => {
  const { sql } = api;
  const id = await api.environmentId();
  // Occurrence and acceptance differ: c was sent late, d and e occurred at the same instant.
  await sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
    values
      (${id}, 10, 'ann', 'login', '{"n": 12345678901234567890, "a": 1.50}', '2026-03-01 10:00:00.123456Z', '2026-03-01 10:00:01Z'),
      (${id}, 11, 'ann', 'login', '{}', '2026-03-02Z', '2026-03-02Z'),
      (${id}, 12, 'ann', 'order', '{}', '2026-01-01Z', '2026-03-03Z'),
      (${id}, 13, 'bob', 'order', '{}', '2026-03-04Z', '2026-03-04Z'),
      (${id}, 14, 'bob', 'login', '{}', '2026-03-04Z', '2026-03-04Z'),
      (${id}, 15, ${ODD}, 'login', '{}', '9999-12-31 23:59:59.999999Z', '2026-03-05Z')`;
  await sql`
    insert into svc.inbox (environment_id, customer_id, seq, not_before)
    values (${id}, 'ann', 11, null), (${id}, 'bob', 14, 'infinity'), (${id}, 'bob', 99, null), (${id}, ${ODD}, 15, '9999-12-31Z')`;
});

describe("GET /projects/:project/events", () => {
  it("shows an event as it was accepted, with exact numbers", async () => {
    const shown = await text("/events?customer=ann&type=login&since=2026-03-01&limit=2");
    expect(shown.replaceAll(/\s/g, "")).toBe(
      '{"data":[{"eventId":"evt_000000000000000b","id":"evt_000000000000000b","customerId":"ann","event":"login","properties":{},' +
        '"occurredAt":"2026-03-02T00:00:00.000Z","acceptedAt":"2026-03-02T00:00:00.000Z","status":"pending"},' +
        '{"eventId":"evt_000000000000000a","id":"evt_000000000000000a","customerId":"ann","event":"login","properties":{"a":1.50,"n":12345678901234567890},' +
        '"occurredAt":"2026-03-01T10:00:00.123Z","acceptedAt":"2026-03-01T10:00:01.000Z","status":"processed"}],"nextCursor":null}',
    );
  });

  it.each([
    ["", ["f", "e", "d", "b", "a", "c"]],
    ["env=live", []],
    ["customer=ann", ["b", "a", "c"]],
    [`customer=${encodeURIComponent(ODD)}`, ["f"]],
    ["customer=%20", []],
    ["customer=nobody", []],
    ["type=order", ["d", "c"]],
    ["customer=ann&type=order", ["c"]],
    ["status=pending", ["f", "e", "b"]],
    ["status=processed", ["d", "a", "c"]],
    ["status=pending&type=login&customer=bob", ["e"]],
    ["status=processed&type=login", ["a"]],
    ["since=2026-03-02", ["f", "e", "d", "b"]],
    ["since=2026-03-01T11:00:00.123%2B01:00&type=login", ["f", "e", "b", "a"]],
    ["since=2026-03-01T11:00:00.124%2B01:00&type=login", ["f", "e", "b"]],
    ["since=1m&status=pending", ["f"]],
    ["since=2026-03-02&customer=ann&type=login&status=pending", ["b"]],
  ])("lists the newest occurrence first, then the last accepted, by %s, also page by page", async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
    expect(await pages(`limit=1&${query}`)).toEqual(expected);
  });

  it("keeps its position when events are accepted between two pages", async () => {
    const first = await page("limit=3&type=login");
    const { sql } = api;
    await sql`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      select ${await api.environmentId()}, n, 'ann', 'login', '{}', at, now() from (values (16, now()), (17, '2026-02-01Z')) as e (n, at)`;
    const second = await page(`limit=3&type=login&cursor=${first.nextCursor}`);
    await sql`delete from svc.events where event_seq in (16, 17)`;
    expect([...short(first.data), ...short(second.data)]).toEqual(["f", "e", "b", "a", "11"]);
    expect(second.nextCursor).toBeNull();
  });

  it("returns 20 or the requested up to 200, continues past pages without matches, and finds pending events in a large backlog", async () => {
    const { sql } = api;
    const id = await api.environmentId("live");
    // A backlog of old events: newer ones were evaluated, and one of the newest is pending.
    await sql`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      select ${id}, n, 'c' || n % 7, 'tick', '{}', '2026-01-01Z'::timestamptz + n * interval '1 second', now()
      from generate_series(1, 7000) as n`;
    await sql`
      insert into svc.inbox (environment_id, customer_id, seq)
      select ${id}, 'c' || n % 7, n from generate_series(1, 7000) as n where n <= 2500 or n = 6999`;
    expect(await ids("env=live")).toHaveLength(20);
    expect(await ids("env=live&limit=200")).toHaveLength(200);
    const first = await page("env=live&status=pending&limit=10");
    expect(first).toMatchObject({ data: [{ id: "evt_0000000000001b57" }], nextCursor: TEXT });
    expect(await pages("env=live&status=pending&limit=200")).toHaveLength(2501);
    expect(await pages("env=live&status=processed&limit=200")).toHaveLength(4499);
    expect(await pages("env=live&status=pending&limit=200&customer=c1")).toHaveLength(358);
    // A customer's last event, seven thousand events back.
    await sql`update svc.events set event = 'first' where environment_id = ${id} and event_seq = 1`;
    expect(await pages("env=live&type=first&customer=c1")).toEqual(["1"]);
  });
});

describe("GET /projects/:project/events/:event", () => {
  const A = "evt_000000000000000a";

  it("shows an event with what it caused, however late, in the present history only", async () => {
    const { sql } = api;
    const id = await api.environmentId();
    await sql`insert into svc.customers (environment_id, customer_id, created_at, generation) values (${id}, 'ann', '2026-03-01Z', 1)`;
    await sql`
      insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, cause_id, generation)
      values
        (${id}, 'ann', 'former', '2026-03-01 10:00:00.123Z', 'event', ${A}, 0),
        (${id}, 'ann', 'active', '2026-03-01 10:00:00.123Z', 'event', ${A}, 1),
        (${id}, 'ann', 'other', '2026-03-01 10:00:00.123Z', 'timer', null, 1),
        (${id}, 'bob', 'active', '2026-03-01 10:00:00.123Z', 'event', ${A}, 1)`;
    await sql`
      insert into svc.rule_executions (
        environment_id, customer_id, generation, executed_at, rule_id, result, triggered_by, conditions, action, error, cause_type, cause_id
      )
      select ${id}, 'ann', 1, at::timestamptz, rule, result, 'event:login', '{}', '{}', case result when 'error' then 'failed' end, 'event', ${A}
      from (
        values ('2026-03-01 10:00:00.123Z', 'acted', 'pass'), ('2026-03-01 10:00:00.123Z', 'did_not', 'fail'), ('2026-03-09Z', 'late', 'error')
      ) as x (at, rule, result)`;
    await sql`
      insert into svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id)
      values (${id}, 65536, 'ann', 'customer.active', 'lifecycle', '{}', '2026-03-01 10:00:00.123Z', 'event', ${A})`;
    type Caused = { kind: string; details: { to?: string; ruleId?: string; eventType?: string } }[];
    const { caused, ...event } = await read<{ caused: Caused }>(`/events/${A}`);
    expect(event).toEqual((await page("customer=ann&since=2026-03-01&limit=2")).data[1]);
    expect(caused.map(({ kind, details }) => [kind, details.to ?? details.ruleId ?? details.eventType])).toEqual([
      ["transition", "active"],
      ["rule", "acted"],
      ["emission", "customer.active"],
      ["rule", "late"],
    ]);
  });

  it("shows an event that caused nothing, or whose customer is not evaluated yet", async () => {
    expect(await read("/events/evt_000000000000000f")).toMatchObject({ customerId: ODD, caused: [] });
  });

  it("answers EVENT_NOT_FOUND for unknown ids, those of the other environment, and invalid ones", async () => {
    for (const path of ["evt_0000000000001b57?env=test", "evt_0000000000000000", "evt_F", "emi_0000000000000001"])
      expect(await api.get(`/events/${path}`)).toMatchObject(refused(404, "EVENT_NOT_FOUND"));
  });
});
