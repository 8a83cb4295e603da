import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { populate } from "../support/population.js";
import { createWebhook } from "../webhooks/support/fixtures.js";

const GUIDE = fileURLToPath(new URL("../../docs/sql.md", import.meta.url));

/** Tables that grow with customers and events. */
const LARGE = new Set(
  (
    "customers deliveries delivery_attempts emissions events health_scores idempotency_keys " +
    "ingest_batches journey_runs lifecycle_transitions rule_executions segment_memberships trait_updates"
  ).split(" "),
);

interface Question {
  title: string;
  statement: string;
  /** The output shown in the guide. */
  printed: string;
  /** Whether the guide says that it reads a whole table. */
  readsAll: boolean;
}

const guide = await readFile(GUIDE, "utf8");
const questions: Question[] = [
  ...guide.matchAll(/^## (\d+\. .*)\n\n((?:(?!```).*\n)*)```sql\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/gm),
].map(([, title = "", about = "", statement = "", printed = ""]) => ({
  title,
  statement,
  printed,
  readsAll: /\bIt reads all\b/.test(about),
}));

const db = await createDatabase();
await fill(db);
const user = `${db.name}_ann`;
await db.sql.unsafe(`create role ${user} login password 'ann' in role svc_reader`);
// Keep the server's own text formats, as psql prints them.
const reader = new pg.Client({
  connectionString: Object.assign(new URL(db.url), { username: user, password: "ann" }).href,
  application_name: "psql",
  types: { getTypeParser: () => (text: string) => text },
});
await reader.connect();
await reader.query("set time zone 'UTC'");
/** Connections of the service. */
const processes = ["svc http", "svc worker"].map((applicationName) => connect(db.url, { max: 1, applicationName }));
for (const sql of processes) await sql`select`;
afterAll(async () => {
  await Promise.all([reader.end(), ...processes.map((sql) => sql.end())]);
  await db.sql.unsafe(`drop role ${user}`);
  await db.drop();
});

/** Fills a service in which some things go well and some do not. */
async function fill({ sql }: TestDatabase): Promise<void> {
  const token = newCredential("token");
  const bootstrapped = await call(sql, "bootstrap", "acme", "ann@acme.example", token.hash);
  const { organizationId } = JSON.parse(bootstrapped) as { organizationId: string };
  const by = { tokenHash: token.hash, organizationId, requestId: "req" };
  const keys = { test: newCredential("test"), live: newCredential("live") };
  await call(sql, "create_project", by, { name: "Shop", slug: "shop" }, keys);
  const [{ id }] = await sql<[{ id: number }]>`select environment_id as id from svc.environments where name = 'live'`;
  await populate(sql, id, { customers: 20_000, events: 60_000 });
  await sql`
    update svc.key_usage as u set month_events = 48211, refilled_at = now()
    from svc.api_keys as k where k.key_hash = u.key_hash and k.hint like 'svc_live%'`;
  // All runs started at once.
  const [{ steps }] = await sql<[{ steps: string }]>`
    select json_build_object(
      'look', json_build_object('completedAt', svc.iso(started_at + interval '2 days'), 'triggeredBy', 'timer'),
      'invite', json_build_object('completedAt', svc.iso(started_at + interval '9 days'), 'triggeredBy', 'evt_0000000000000400')
    )::text as steps
    from svc.journey_runs where environment_id = ${id} limit 1`;
  await sql`
    update svc.journey_runs set current_step = 'first_project', steps = ${steps}::text::json where customer_id like '%7'`;
  await sql`insert into svc.workers (worker_id, started_at) values ('worker-1', now() - interval '3 days')`;
  await sql`select graphile_worker.add_job('evaluate', json_build_object('environmentId', ${id}::integer))`;
  await sql`select graphile_worker.add_job('evaluate', json_build_object('environmentId', ${id}::integer))`;
  await sql`
    update graphile_worker._private_jobs set attempts = 3, run_at = now() + interval '1 minute', last_error = 'deadlock detected'
    where id = (select min(id) from graphile_worker._private_jobs)`;
  const { webhookId } = await createWebhook(sql, id, "https://hooks.example.com/svc");
  await sql`update svc.webhooks set failing_since = now() - interval '2 hours'`;
  await sql`
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, attempts, next_attempt_at, finished_at)
    select ${id}, ${webhookId}, emission_seq,
      case when n % 100 = 1 then 'failed' when n % 100 = 2 then 'pending' else 'delivered' end, case when n % 100 = 1 then 8 else 1 end,
      now() + interval '1 minute', case when n % 100 <> 2 then now() end
    from (select emission_seq, row_number() over (order by emission_seq) as n from svc.emissions) as e`;
  await sql`
    insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code)
    select environment_id, webhook_id, emission_seq, attempts, now() - interval '1 hour', 20, case when status = 'delivered' then 200 else 503 end
    from svc.deliveries`;
  await sql`
    insert into svc.recomputes (
      environment_id, recompute_id, kind, pinned_at, status, customers_total, customers_done, requested_by, started_at
    )
    values (${id}, 'rec_2d1c0f9a8b7e6d5c4b3a', 'recompute', now(), 'running', 20000, 5000, 'ann@acme.example', now())`;
  await sql`vacuum (analyze)`;
}

it("the guide asks twenty-two questions", () => {
  expect(questions.map(({ title }) => Number.parseInt(title))).toEqual(Array.from({ length: 22 }, (_, i) => i + 1));
});

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  Plans?: PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

it.each(questions)(
  "$title: a reader gets rows with the columns in the guide, and scans a whole large table only where the guide says so",
  async ({ statement, printed, readsAll }) => {
    const result = await reader.query({ text: statement, rowMode: "array" });
    expect(result.rowCount).toBeGreaterThan(0);
    const [header = ""] = printed.split("\n");
    expect(header.split("|").map((name) => name.trim())).toEqual(result.fields.map(({ name }) => name));

    // A cluster shows the plans of its nodes in another form.
    if (isCluster) return;
    const { rows } = await reader.query<[string]>({ text: `explain (format json) ${statement}`, rowMode: "array" });
    const [{ Plan: plan }] = JSON.parse(rows[0]![0]) as [{ Plan: PlanNode }];
    const scanned = nodesOf(plan).filter(
      (node) => node["Node Type"] === "Seq Scan" && LARGE.has(node["Relation Name"] ?? ""),
    );
    if (!readsAll) expect(scanned).toEqual([]);
  },
);

// On a cluster each node sorts its own rows.
it.skipIf(isCluster).each(["events", "emissions"])(
  "the newest %s of an environment are read in the order of an index, not sorted",
  async (view) => {
    const { rows } = await reader.query<[string]>({
      text: `
        explain (format json)
        select * from svc_inspect.${view}
        where environment_id = (select environment_id from svc_inspect.environments where project = 'shop' and environment = 'live')
        order by ${view.slice(0, -1)}_seq desc
        limit 20`,
      rowMode: "array",
    });
    const [{ Plan: plan }] = JSON.parse(rows[0]![0]) as [{ Plan: PlanNode }];
    expect(nodesOf(plan).map((node) => node["Node Type"])).not.toContain("Sort");
  },
);

it("every view of readers, and every column, has a comment", async () => {
  const uncommented = await db.sql`
    select c.relname, a.attname
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace = 'svc_inspect'::regnamespace
      and (col_description(c.oid, a.attnum) is null or obj_description(c.oid, 'pg_class') is null)`;
  expect([...uncommented]).toEqual([]);
});

it("every view except those of the whole installation has the organization", async () => {
  const without = await db.sql<{ name: string }[]>`
    select c.relname as name from pg_class as c
    where c.relnamespace = 'svc_inspect'::regnamespace and c.relkind = 'v' and not exists (
      select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'organization'
    )
    order by 1`;
  expect(without.map(({ name }) => name)).toEqual(["tables", "workers"]);
});
