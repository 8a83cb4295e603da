import { randomBytes } from "node:crypto";
import type { Sql, TransactionSql } from "postgres";
import { call } from "../../../src/db/api/call.js";
import { importEnvironment } from "../../../src/server/environments/import.js";
import { exportEnvironment } from "../../../src/server/environments/export.js";
import { countTrends } from "../../../src/tasks/periodic-jobs.js";
import type { TestDatabase } from "../../support/database.js";
import { TestEnvironment } from "../../tasks/support/environment.js";
import { liveThrough } from "../../tasks/support/lived.js";
import { MODEL } from "../../tasks/support/population.js";
import { createWebhook, SERVICE_SECRET } from "../../webhooks/support/fixtures.js";

/** Creates an environment with rows in every table. */
export async function fillEnvironment(db: TestDatabase): Promise<TestEnvironment> {
  const { sql } = db;
  const environment = await TestEnvironment.create(sql, MODEL);
  const { environmentId: id } = environment;
  await createWebhook(sql, id, "https://hooks.example.com/", ["*"], { include: ["name"], ageDays: 1 });
  await liveThrough(db, environment, 30);
  const sent = (customer: string, key: string) => ({ customer, at: "2026-03-01T00:00:00Z", event: "paid", key });
  const ahead = new Date(Date.now() + 86_400_000).toISOString();
  await environment.send([sent("c020", "k1"), { ...sent("c021", "k2"), at: ahead }, sent("c022", "k3")]);
  await environment.evaluate({ settleSeconds: 0 });
  await countTrends(sql, new AbortController().signal);
  await sql`select svc_api.set_aside_customer(${id}, 'c022', 'RangeError: beyond')`;
  await environment.erase("c003");
  // Rows that operations under this model do not produce.
  await sql`
    insert into svc.blocked_transitions (environment_id, customer_id, from_state, to_state, blocked_at)
    values (${id}, 'c001', 'new', 'active', now())`;
  await sql`
    insert into svc.schema_violations
    select ${id}, 1, E'a\tb\\\n', 'UNKNOWN_EVENT', 'event', 2, now(), now(), null`;
  await sql`insert into svc.quarantines (environment_id, operations, bytes) values (${id}, 1, 2)`;
  await sql`
    insert into svc.quarantined_operations
    select ${id}, max(b.batch_seq) * 1024 + 900, 'c001', null, '{}', null, null, now(), 2, 1, 'x', 'x', 'x', '[]'
    from svc.ingest_batches as b where b.environment_id = ${id}`;
  await sql`
    update svc.ingest_batches as b set identified = identified + 1
    where b.environment_id = ${id}
      and b.batch_seq = (select max(m.batch_seq) from svc.ingest_batches as m where m.environment_id = ${id})`;
  const identify = { customer: "c024", at: "", traits: { plan: "pro" } };
  await environment.send([sent("c023", "k4"), sent("c022", "k5"), identify]);
  return environment;
}

/** Creates the organization "moved" in a database without the environment. */
export async function createOrganization(sql: Sql): Promise<{ organizationId: string; tokenHash: Buffer }> {
  const tokenHash = randomBytes(32);
  const document = await call(sql, "bootstrap", "moved", "owner@moved.example", tokenHash);
  await sql`update iam.plans set rate_per_second = 1e9, rate_burst = 1000000000, retention_days = 30`;
  return { ...(JSON.parse(document) as { organizationId: string }), tokenHash };
}

/** Exports an environment that runs without the service. */
export function exportTo(db: TestDatabase, { place }: TestEnvironment, file: string) {
  return exportEnvironment(db.url, { organization: place.project, ...place }, file, () => undefined);
}

/** Imports into the organization "moved". */
export function importFrom(db: TestDatabase, file: string, project = "shop", secret = SERVICE_SECRET) {
  return importEnvironment(db.url, file, { organization: "moved", project }, secret);
}

/** The id of the environment `test` of a project of the organization "moved". */
export async function importedId(sql: Sql, project = "shop"): Promise<number> {
  const [row] = await sql<[{ id: number }]>`
    select e.environment_id as id
    from svc.environments as e
    join svc.projects as p on p.project_id = e.project_id
    join iam.organizations as o on o.organization_id = p.organization_id
    where o.slug = 'moved' and p.slug = ${project} and e.name = 'test'`;
  return row.id;
}

/** Tables that are not moved. */
const NOT_MOVED = ["environments", "homes", "evaluation_slots", "suspect_environments"];

/** The rows of an environment, by every table of the catalog, as JSON with all columns except the ids of environment and project. */
export function rowsOf(sql: Sql, environmentId: number): Promise<Map<string, string[]>> {
  return sql.begin(async (tx) => {
    await tx`set local time zone 'UTC'`;
    return readRows(tx, environmentId);
  });
}

async function readRows(sql: TransactionSql, environmentId: number): Promise<Map<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'environment_id' and not a.attisdropped
    where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p') and c.relname <> all(${NOT_MOVED}::text[])
    order by c.relname`;
  const rows = new Map<string, string[]>();
  const read = async (name: string, where: string) => {
    const found = await sql.unsafe<{ row: string }[]>(
      `select (to_jsonb(t) - 'environment_id' - 'project_id')::text as row from svc."${name}" as t where ${where}`,
    );
    // The transaction to wait for belongs to one database; in another there is none yet.
    rows.set(name, found.map(({ row }) => row.replace(/("outdated_since": )"\d+"/, '$1"0"')).sort());
  };
  for (const { name } of tables) await read(name, `t.environment_id = ${environmentId}`);
  const project = `(select project_id from svc.environments where environment_id = ${environmentId})`;
  await read("config_versions", `t.project_id = ${project}`);
  await read("payload_checks", `t.project_id = ${project}`);
  await read("key_usage", `t.key_hash in (select key_hash from svc.api_keys where environment_id = ${environmentId})`);
  return rows;
}

/** A customer's state, history and emissions, as the API and the views show them. */
export async function storyOf(environment: TestEnvironment, customer: string): Promise<object> {
  return {
    document: await environment.documentText(customer),
    log: await environment.log(customer),
    emissions: [...(await environment.emissions(customer))],
  };
}
