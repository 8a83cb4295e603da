import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { environmentId, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
const get = (path: string) => service.request("GET", `/projects/app${path}`, { by: owner });

interface Page {
  data: { triggeredBy: string }[];
  nextCursor: string | null;
}

/** What triggered the executions of all pages: it names them here. */
const pages = async (query: string): Promise<string[]> => {
  const seen: string[] = [];
  let cursor = "";
  do {
    const reply = await get(`/rule-executions?${query}${cursor}`);
    expect(reply.status).toBe(200);
    const page = reply.body as Page;
    seen.push(...page.data.map(({ triggeredBy }) => triggeredBy.replace("event:", "")));
    cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
  } while (cursor !== "");
  return seen;
};

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
  const { sql } = service.db;
  const id = await environmentId(sql, "app", "test");
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, generation)
    values (${id}, 'ann', now(), 0), (${id}, 'bob', now(), 2), (${id}, 'dan', now(), 1)`;
  // Written in the order of their names. A recompute wrote bob's history anew: e and f are its past. Of dan's there is nothing but
  // a past, i and j.
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
afterAll(() => service.stop());

describe("GET /projects/:project/rule-executions", () => {
  const RULE_EXECUTION = {
    customerId: "ann",
    ruleId: "nudge",
    result: "pass",
    triggeredBy: "event:a",
    executedAt: "2026-03-01T00:00:00.000Z",
    cause: { type: "event", id: "evt_0000000000000400" },
    configVersion: "v1",
    error: null,
  };

  it("shows what came of a rule, with detail also why", async () => {
    expect((await get("/rule-executions?customer=ann&result=pass")).body).toEqual({
      data: [RULE_EXECUTION],
      nextCursor: null,
    });
    expect((await get("/rule-executions?customer=ann&result=pass&detail=true")).body).toEqual({
      data: [
        {
          ...RULE_EXECUTION,
          conditions: { kind: "all", holds: true },
          action: { type: "emit", event: "nudged" },
        },
      ],
      nextCursor: null,
    });
    expect((await get("/rule-executions?result=error&detail=false")).body).toEqual({
      data: [
        {
          ...RULE_EXECUTION,
          ruleId: "greet",
          result: "error",
          triggeredBy: "event:d",
          executedAt: "2026-02-01T00:00:00.000Z",
          cause: { type: "event", id: null },
          configVersion: null,
          error: "unknown segment",
        },
      ],
      nextCursor: null,
    });
  });

  it.each([
    ["", ["g", "h", "c", "b", "a", "d"]],
    ["customer=bob", ["g", "h"]],
    ["customer=ann", ["c", "b", "a", "d"]],
    ["customer=nobody", []],
    ["customer=dan", []],
    ["customer=dan&rule=nudge", []],
    ["rule=nudge", ["g", "b", "a"]],
    ["result=pass", ["h", "a"]],
    ["rule=nudge&result=pass", ["a"]],
    ["rule=greet&customer=ann", ["c", "d"]],
    ["rule=greet&customer=ann&result=error", ["d"]],
    ["rule=nothing", []],
    ["since=2026-03-02", ["g", "h", "c", "b"]],
    ["since=2026-03-02&rule=nudge", ["g", "b"]],
    ["since=2026-03-03T00:00:00Z&customer=bob&result=pass", ["h"]],
    ["since=1d", []],
    ["env=live", []],
  ])("lists the present history, newest first, by %s", async (query, expected) => {
    expect(await pages(query)).toEqual(expected);
    expect(await pages(`limit=1&${query}`)).toEqual(expected);
  });

  it("goes on past a page whose executions are all of a former history", async () => {
    const { sql } = service.db;
    const id = await environmentId(sql, "app", "live");
    await sql`insert into svc.customers (environment_id, customer_id, created_at, generation) values (${id}, 'cy', now(), 1)`;
    await sql`
      insert into svc.rule_executions (
        environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type, generation
      )
      select ${id}, 'cy', 'nudge', (array['pass', 'fail'])[1 + n % 2], 'event:' || n, '{}', '{}', '2026-01-01Z'::timestamptz + n * interval '1 s', 'job',
        case when n <= 3 then 1 else 0 end
      from generate_series(1, 5000) as n`;
    const first = (await get("/rule-executions?env=live")).body as Page;
    expect(first.data).toEqual([]);
    expect(first.nextCursor).not.toBeNull();
    expect(await pages("env=live")).toEqual(["3", "2", "1"]);
    expect(await pages("env=live&result=fail&rule=nudge")).toEqual(["3", "1"]);
    expect(await pages("env=live&customer=cy")).toEqual(["3", "2", "1"]);
    // Recomputed under a model without rules.
    await sql`update svc.customers set generation = 2 where environment_id = ${id}`;
    expect(await pages("env=live")).toEqual([]);
    expect(await pages("env=live&customer=cy")).toEqual([]);
  });
});
