import { afterAll, describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { connect } from "../../../src/db/connect.js";
import { newCredential } from "../../../src/http/request/credentials.js";
import { useDatabase } from "../../support/database.js";
import { TestEnvironment } from "../../tasks/support/environment.js";
import { createWebhook } from "../../webhooks/support/fixtures.js";

const db = await useDatabase();
const { sql } = db;
/** A role that can log in, since a cluster connects to its nodes with it. */
const user = `${db.name}_reader`;
await sql.unsafe(`create role ${user} login password 'reader' in role svc_reader`);
const readerUrl = Object.assign(new URL(db.url), { username: user, password: "reader" });
const reader = connect(readerUrl.href, { max: 1, applicationName: "svc test reader" });
const environment = await TestEnvironment.create(sql);
const { environmentId: id } = environment;
const { project } = environment.place;
/** The names of the environment; organization and project have the same name. */
const where = { organization: project, project, environment: "test" };
const owner = "owner@example.com";
afterAll(async () => {
  await reader.end();
  await sql.unsafe(`drop role ${user}`);
});

it("svc_inspect shows what is stored by the names of organization, project and environment", async () => {
  const url = "https://hooks.example.com/";
  const { webhookId } = await createWebhook(sql, id, url, ["*"]);
  await sql`
    insert into svc.recomputes (environment_id, recompute_id, kind, version, pinned_at, requested_by)
    values (${id}, 'rec_1', 'dry_run', 3, '2026-03-01Z', 'ann@acme.example')`;
  await sql`
    insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at)
    select ${id}, n, 'c', json_build_object('n', n)::jsonb, '2026-03-01Z' from generate_series(1, 2) as n`;
  await sql`
    insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error)
    values
      (${id}, ${webhookId}, 65536, 1, '2026-03-01Z', 12, 503, null), (${id}, ${webhookId}, 65536, 2, '2026-03-02Z', 5000, null, 'timeout')`;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, traits, lifecycle)
    values (${id}, 'c', '2026-01-01Z', '{"a": 1.50}', 'new')`;
  await sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at, idempotency_key)
    select ${id}, n, 'c', 'login', '{}', now(), now(), case when n = 1024 then 'k' end from generate_series(1024, 1025) as n`;
  await sql`
    insert into svc.inbox (environment_id, customer_id, seq, late) values (${id}, 'c', 2, true), (${id}, 'c', 1025, false)`;

  const unused = { status: "active", created_by: owner, last_used_at: null, month_events: "0" };
  const key = { ...where, name: "default", ...unused };
  const created = { actor: owner, request_id: "test", action: "project.created", target: project, details: {} };
  const state = await environment.documentText("c");
  const views: [view: string, order: string, rows: Record<string, unknown>[]][] = [
    ["members", "email", [{ organization: project, email: owner, role: "owner" }]],
    ["api_keys", "environment desc", [key, { ...key, environment: "live" }]],
    ["audit_log where action = 'project.created'", "at", [{ ...where, environment: null, ...created }]],
    ["recomputes", "recompute_id", [{ ...where, kind: "dry_run", status: "queued", version: "v3", customers_done: 0 }]],
    [
      "trait_updates",
      "operation_seq",
      [
        { ...where, customer_id: "c", traits: { n: 1 }, operation_seq: "1", status: "processed" },
        { ...where, customer_id: "c", traits: { n: 2 }, operation_seq: "2", status: "pending" },
      ],
    ],
    [
      "delivery_attempts",
      "attempt",
      [
        { ...where, webhook_id: webhookId, url, attempt: 1, latency_ms: 12, status_code: 503, error: null },
        { ...where, webhook_id: webhookId, url, attempt: 2, latency_ms: 5000, status_code: null, error: "timeout" },
      ],
    ],
    [
      "events",
      "event_id",
      [
        { ...where, event_id: "evt_0000000000000400", idempotency_key: "k", status: "processed" },
        { ...where, event_id: "evt_0000000000000401", idempotency_key: null, status: "pending" },
      ],
    ],
    ["customer_states", "customer_id", [{ ...where, state: JSON.parse(state!) as object }]],
  ];
  for (const [view, order, rows] of views) {
    const found = await reader.unsafe(`select * from svc_inspect.${view} order by ${order}`);
    expect([...found], view).toMatchObject(rows);
  }
  const [text] = await reader`select state::text as state from svc_inspect.customer_states`;
  expect(text).toEqual({ state });
  expect(state).toContain("1.50");
});

describe("svc_api.bootstrap", () => {
  it("adds a token and changes nothing else when it runs again, however many run at once", async () => {
    const bootstrap = () => call(sql, "bootstrap", "many", " Bob@Many.example", newCredential("token").hash);
    const made = () => sql`
      select count(distinct o.organization_id)::int as organizations, count(distinct u.user_id)::int as users,
        count(distinct m.role)::int as roles, count(*)::int as tokens, min(u.email) as email, min(m.role) as role
      from iam.organizations as o
      join iam.memberships as m on m.organization_id = o.organization_id
      join iam.users as u on u.user_id = m.user_id
      join iam.access_tokens as t on t.organization_id = o.organization_id and t.user_id = u.user_id
      where o.slug = 'many'`;
    const documents = await Promise.all(Array.from({ length: 6 }, bootstrap));
    expect(new Set(documents).size).toBe(1);
    const once = { organizations: 1, users: 1, roles: 1, email: "bob@many.example" };
    expect(await made()).toEqual([{ ...once, tokens: 6, role: "owner" }]);
    await sql`
      update iam.memberships as m set role = 'viewer' from iam.users as u where u.user_id = m.user_id and u.email = ${once.email}`;
    await bootstrap();
    expect(await made(), "a role that was changed meanwhile is kept").toEqual([{ ...once, tokens: 7, role: "viewer" }]);
  });

  it.each([
    ["No Slug", "a@b.example", "organizations_slug_form"],
    ["slug", "nobody", "users_email_lower_case"],
  ])("refuses %s and %s by a named constraint", async (slug, email, constraint) => {
    const attempt = call(sql, "bootstrap", slug, email, newCredential("token").hash);
    await expect(attempt).rejects.toMatchObject({ code: "23514", constraint_name: constraint });
  });
});
