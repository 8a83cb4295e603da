import { beforeAll, describe, expect, it } from "vitest";
import { TEXT, useApi } from "./support/api.js";

const api = useApi();
const { read, readAll } = api;
const list = (query: string) => read(`/rule-executions?${query}`);
/** The triggers of the executions on all pages, which name them here. */
const pages = async (query: string) =>
  (await readAll<{ triggeredBy: string }>(`/rule-executions?${query}`)).items.map(({ triggeredBy }) =>
    triggeredBy.replace("event:", ""),
  );

beforeAll(async () => {
  const { sql } = api;
  const id = await api.environmentId();
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, generation)
    values (${id}, 'ann', now(), 0), (${id}, 'bob', now(), 2), (${id}, 'dan', now(), 1)`;
  // Written in the order of their names. A recompute rewrote bob's history: e and f are superseded. All of dan's are
  // superseded: i and j.
  await sql`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, cause_id,
      config_version, generation
    )
    values
      (${id}, 'ann', 'nudge', 'pass', 'event:a', '{"kind": "all", "holds": true}', '{"type": "emit", "event": "nudged"}', null,
        '2026-03-01Z', 'event', 'evt_0000000000000400', 1, 0),
      (${id}, 'ann', 'nudge', 'skip', 'event:b', '{}', '{}', null, '2026-03-02Z', 'event', 'evt_0000000000000401', 1, 0),
      (${id}, 'ann', 'greet', 'fail', 'event:c', '{}', '{}', null, '2026-03-02Z', 'timer', null, 1, 0),
      (${id}, 'ann', 'greet', 'error', 'event:d', '{}', '{}', 'unknown segment', '2026-02-01Z', 'event', null, null, 0),
      (${id}, 'bob', 'nudge', 'pass', 'event:e', '{}', '{}', null, '2026-03-03Z', 'event', null, 1, 0),
      (${id}, 'bob', 'nudge', 'pass', 'event:f', '{}', '{}', null, '2026-03-04Z', 'event', null, 1, 1),
      (${id}, 'bob', 'nudge', 'fail', 'event:g', '{}', '{}', null, '2026-03-03 00:00:00.000001Z', 'job', 'job_1', 2, 2),
      (${id}, 'bob', 'greet', 'pass', 'event:h', '{}', '{}', null, '2026-03-03Z', 'job', 'job_1', 2, 2),
      (${id}, 'dan', 'nudge', 'pass', 'event:i', '{}', '{}', null, '2026-03-03Z', 'event', null, 1, 0),
      (${id}, 'dan', 'greet', 'error', 'event:j', '{}', '{}', 'no', '2026-03-05Z', 'event', null, 1, 0)`;
});

describe("GET /projects/:project/rule-executions", () => {
  const of = (execution: object) => ({ data: [execution], nextCursor: null });

  it("shows a rule's result, with detail also the reasons", async () => {
    const passed = {
      ...{ customerId: "ann", ruleId: "nudge", result: "pass", triggeredBy: "event:a", error: null, emissionId: null },
      ...{ configVersion: "v1", executedAt: "2026-03-01T00:00:00.000Z" },
      cause: { type: "event", id: "evt_0000000000000400" },
    };
    expect(await list("customer=ann&result=pass")).toEqual(of(passed));
    const why = { conditions: { kind: "all", holds: true }, action: { type: "emit", event: "nudged" } };
    expect(await list("customer=ann&result=pass&detail=true")).toEqual(of({ ...passed, ...why }));
    const failed = {
      ...{ customerId: "ann", ruleId: "greet", result: "error", triggeredBy: "event:d", error: "unknown segment" },
      emissionId: null,
      ...{ configVersion: null, executedAt: "2026-02-01T00:00:00.000Z" },
      cause: { type: "event", id: null },
    };
    expect(await list("result=error&detail=false")).toEqual(of(failed));
  });

  it.each([
    ["", ["g", "h", "c", "b", "a", "d"]],
    ["customer=bob", ["g", "h"]],
    ["customer=ann", ["c", "b", "a", "d"]],
    ["customer=dan", []],
    ["rule=nudge", ["g", "b", "a"]],
    ["result=pass", ["h", "a"]],
    ["rule=nudge&result=pass", ["a"]],
    ["rule=greet&customer=ann", ["c", "d"]],
    ["rule=greet&customer=ann&result=error", ["d"]],
    ["since=2026-03-02", ["g", "h", "c", "b"]],
    ["since=2026-03-02&rule=nudge", ["g", "b"]],
    ["since=2026-03-03T00:00:00Z&customer=bob&result=pass", ["h"]],
    ["since=1d", []],
    ["env=live", []],
  ])("lists the present history, newest first, by %s", async (query, expected) => {
    expect(await pages(query)).toEqual(expected);
    expect(await pages(`limit=1&${query}`)).toEqual(expected);
  });

  it("continues past a page of superseded executions only", async () => {
    const { sql } = api;
    const id = await api.environmentId("live");
    await sql`insert into svc.customers (environment_id, customer_id, created_at, generation) values (${id}, 'cy', now(), 1)`;
    await sql`
      insert into svc.rule_executions (
        environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type, generation
      )
      select ${id}, 'cy', 'nudge', (array['pass', 'fail'])[1 + n % 2], 'event:' || n, '{}', '{}', '2026-01-01Z'::timestamptz + n * interval '1 s', 'job',
        case when n <= 3 then 1 else 0 end
      from generate_series(1, 3000) as n`;
    expect(await list("env=live")).toEqual({ data: [], nextCursor: TEXT });
    expect(await pages("env=live")).toEqual(["3", "2", "1"]);
    expect(await pages("env=live&result=fail&rule=nudge")).toEqual(["3", "1"]);
    expect(await pages("env=live&customer=cy")).toEqual(["3", "2", "1"]);
    // Recomputed under a model without rules.
    await sql`update svc.customers set generation = 2 where environment_id = ${id}`;
    expect(await pages("env=live")).toEqual([]);
    expect(await pages("env=live&customer=cy")).toEqual([]);
  });
});
