import { afterAll, describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";

import { connect } from "../../../src/db/connect.js";
import { newAccessToken, newApiKey } from "../../../src/http/request/credentials.js";
import { createDatabase } from "../../support/database.js";
import { createWebhook } from "../../webhooks/support/fixtures.js";

const db = await createDatabase();
const { sql } = db;
const reader = connect(db.url, { max: 1, applicationName: "svc test reader", role: "svc_reader" });
const token = newAccessToken();
const { organizationId } = JSON.parse(await call(sql, "bootstrap", "acme", "ann@acme.example", token.hash)) as {
  organizationId: string;
};
const by = { tokenHash: token.hash, organizationId, requestId: "test" };
const keys = { test: newApiKey("test"), live: newApiKey("live") };
await call(sql, "create_project", by, { name: "App", slug: "app" }, keys);
afterAll(async () => {
  await reader.end();
  await db.drop();
});

describe("svc_inspect", () => {
  it("shows who belongs to an organization, its keys and what was changed", async () => {
    const [member] = await reader`select organization, email, role from svc_inspect.members`;
    expect({ ...member }).toEqual({ organization: "acme", email: "ann@acme.example", role: "owner" });
    const keys = await reader`
      select organization, project, environment, name, status, created_by, last_used_at, month_events::integer
      from svc_inspect.api_keys order by environment`;
    const key = { organization: "acme", project: "app", name: "default", status: "active", last_used_at: null };
    expect(keys.map((row) => ({ ...row }))).toEqual([
      { ...key, environment: "live", created_by: "ann@acme.example", month_events: 0 },
      { ...key, environment: "test", created_by: "ann@acme.example", month_events: 0 },
    ]);
    const [entry] = await reader`
      select organization, actor, request_id, action, project, environment, target, details from svc_inspect.audit_log
      where action = 'project.created'`;
    expect({ ...entry }).toEqual({
      organization: "acme",
      actor: "ann@acme.example",
      request_id: "test",
      action: "project.created",
      project: "app",
      environment: null,
      target: "app",
      details: {},
    });
  });

  it("shows recomputes by the names of organization, project and environment", async () => {
    await sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, version, pinned_at, requested_by)
      select environment_id, 'rec_1', 'dry_run', 3, '2026-03-01Z', 'ann@acme.example' from svc.environments where name = 'live'`;
    const [row] = await reader`
      select organization, project, environment, recompute_id, kind, status, version, customers_done from svc_inspect.recomputes`;
    expect({ ...row }).toEqual({
      organization: "acme",
      project: "app",
      environment: "live",
      recompute_id: "rec_1",
      kind: "dry_run",
      status: "queued",
      version: "v3",
      customers_done: 0,
    });
  });

  it("shows trait updates, and whether they were evaluated, and every attempt of a delivery", async () => {
    await sql`
      with updates as (
        insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at)
        select environment_id, n, 'traits', json_build_object('n', n)::jsonb, '2026-03-01Z'
        from svc.environments, generate_series(1, 2) as n
        where name = 'live'
        returning environment_id, customer_id, operation_seq
      )
      insert into svc.inbox (environment_id, customer_id, seq) select * from updates where operation_seq = 2`;
    const updates = await reader`
      select organization, project, environment, customer_id, traits, operation_seq, status
      from svc_inspect.trait_updates order by operation_seq`;
    const of = { organization: "acme", project: "app", environment: "live", customer_id: "traits" };
    expect(updates.map((row) => ({ ...row }))).toEqual([
      { ...of, traits: { n: 1 }, operation_seq: "1", status: "processed" },
      { ...of, traits: { n: 2 }, operation_seq: "2", status: "pending" },
    ]);
    await sql`delete from svc.inbox`;

    const [{ id }] = await sql<[{ id: number }]>`select environment_id as id from svc.environments where name = 'live'`;
    const { webhookId } = await createWebhook(sql, id, "https://hooks.example.com/", ["*"]);
    await sql`
      insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error)
      values
        (${id}, ${webhookId}, 65536, 1, '2026-03-01Z', 12, 503, null), (${id}, ${webhookId}, 65536, 2, '2026-03-02Z', 5000, null, 'timeout')`;
    const attempts = await reader`
      select organization, environment, webhook_id, url, attempt, latency_ms, status_code, error
      from svc_inspect.delivery_attempts order by attempt`;
    const to = { organization: "acme", environment: "live", webhook_id: webhookId, url: "https://hooks.example.com/" };
    expect(attempts.map((row) => ({ ...row }))).toEqual([
      { ...to, attempt: 1, latency_ms: 12, status_code: 503, error: null },
      { ...to, attempt: 2, latency_ms: 5000, status_code: null, error: "timeout" },
    ]);
  });

  it("shows customers, states and events by the names of project and environment", async () => {
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, traits, lifecycle)
      select environment_id, 'c', '2026-01-01Z', '{"a": 1.50}', 'new' from svc.environments where name = 'live'`;
    await sql`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at, idempotency_key)
      select environment_id, n, 'c', 'login', '{}', now(), now(), case when n = 1024 then 'k' end
      from svc.environments, generate_series(1024, 1025) as n
      where name = 'live'`;
    await sql`insert into svc.inbox select environment_id, 'c', 1025 from svc.environments where name = 'live'`;
    const events = await reader`
      select project, environment, event_id, idempotency_key, status from svc_inspect.events where environment = 'live' order by event_id`;
    expect(events.map((row) => ({ ...row }))).toEqual([
      {
        project: "app",
        environment: "live",
        event_id: "evt_0000000000000400",
        idempotency_key: "k",
        status: "processed",
      },
      {
        project: "app",
        environment: "live",
        event_id: "evt_0000000000000401",
        idempotency_key: null,
        status: "pending",
      },
    ]);
    const [row] = await reader`select project, environment, state::text as state from svc_inspect.customer_states`;
    expect(row).toMatchObject({ project: "app", environment: "live" });
    expect(Object.keys(JSON.parse(row?.["state"] as string) as object)).toEqual([
      "customerId",
      "environment",
      "createdAt",
      "lastEventAt",
      "evaluatedThrough",
      "configVersion",
      "traits",
      "lifecycle",
      "lifecycleEnteredAt",
      "segments",
      "health",
      "journeys",
      "signals",
      "nextDueAt",
    ]);
    expect(row?.["state"]).toContain("1.50");
  });

  it.each([
    ["lifecycle_transitions", "to_state, transitioned_at", "'new', now()"],
    ["health_scores", "overall, components, band, scored_at", "50, '{}', 'good', now()"],
    [
      "rule_executions",
      "rule_id, result, triggered_by, conditions, action, executed_at",
      "'r', 'pass', 'traits', '{}', '{}', now()",
    ],
  ])("shows of %s the customer's present generation, also where that is nothing", async (log, columns, values) => {
    const causes = () =>
      reader`select cause_id from ${reader(`svc_inspect.${log}`)} where customer_id = 'g' order by 1`;
    await sql.unsafe(`
      insert into svc.customers (environment_id, customer_id, created_at)
      select environment_id, 'g', now() from svc.environments where name = 'test'
      on conflict do nothing;
      insert into svc.${log} (environment_id, customer_id, cause_type, cause_id, generation, ${columns})
      select e.environment_id, 'g', 'job', 'g' || g || n, g, ${values}
      from svc.environments as e, generate_series(1, 0, -1) as g, generate_series(1, 2) as n
      where e.name = 'test'`);
    const seen: unknown[] = [];
    for (const generation of [0, 1, 2]) {
      await sql`update svc.customers set generation = ${generation} where customer_id = 'g'`;
      seen.push((await causes()).map((row) => row["cause_id"] as string));
    }
    expect(seen).toEqual([["g01", "g02"], ["g11", "g12"], []]);
  });
});

describe("svc_api.bootstrap", () => {
  it("adds a token and changes nothing else when it runs again, however many run at once", async () => {
    const runs = Array.from({ length: 6 }, () =>
      call(sql, "bootstrap", "many", " Bob@Many.example", newAccessToken().hash),
    );
    const documents = new Set(await Promise.all(runs));
    expect(documents.size).toBe(1);
    const [row] = await sql`
      select count(distinct o.organization_id)::int as organizations, count(distinct u.user_id)::int as users,
        count(distinct m.role)::int as roles, count(*)::int as tokens, min(u.email) as email, min(m.role) as role
      from iam.organizations as o
      join iam.memberships as m on m.organization_id = o.organization_id
      join iam.users as u on u.user_id = m.user_id
      join iam.access_tokens as t on t.organization_id = o.organization_id and t.user_id = u.user_id
      where o.slug = 'many'`;
    expect(row).toEqual({ organizations: 1, users: 1, roles: 1, tokens: 6, email: "bob@many.example", role: "owner" });
  });

  it("keeps a role that was changed meanwhile", async () => {
    await call(sql, "bootstrap", "kept", "eve@kept.example", newAccessToken().hash);
    await sql`update iam.memberships set role = 'viewer' where user_id = (select user_id from iam.users where email = 'eve@kept.example')`;
    await call(sql, "bootstrap", "kept", "eve@kept.example", newAccessToken().hash);
    const [row] =
      await sql`select role from iam.memberships join iam.users using (user_id) where email = 'eve@kept.example'`;
    expect(row).toEqual({ role: "viewer" });
  });

  it.each([
    ["No Slug", "a@b.example", "organizations_slug_form"],
    ["slug", "nobody", "users_email_lower_case"],
  ])("refuses %s and %s by a named constraint", async (slug, email, constraint) => {
    const attempt = call(sql, "bootstrap", slug, email, newAccessToken().hash);
    await expect(attempt).rejects.toMatchObject({ code: "23514", constraint_name: constraint });
  });
});
