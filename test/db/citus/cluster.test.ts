import { setTimeout as delay } from "node:timers/promises";
import { randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import { afterAll, describe, expect, inject, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { installPack, removePack } from "../../../src/db/migrate/packs.js";
import { happened, rule, emit, snapshotOf } from "../../engine/support/builders.js";
import { TestEnvironment } from "../../tasks/support/environment.js";
import { derived } from "../../tasks/support/kept.js";
import { describeCatalog } from "../../support/catalog.js";
import { createClusterDatabase, onEachNode, withDatabase } from "../../support/citus.js";
import { violations } from "../../support/invariants.js";
import { migrateUnreleased } from "../../support/migrate.js";

// The pack `citus` on a cluster: run with TEST_DATABASE_URL naming its coordinator. Tests without a cluster: pack.test.ts.

const { url: server, nodes, prefix } = inject("database");

const MODEL = snapshotOf({
  states: { new: [["customer", happened("paid")]], customer: [] },
  rules: { call: rule("paid", emit("success.call")) },
});
const CUSTOMERS = ["ann", "bob", "cid", "dan"];
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000).toISOString();
const history = CUSTOMERS.flatMap((customer, n) =>
  ["login", "used", "paid"].map((event, k) => ({ customer, event, at: at(n + k * 60), key: `${customer} ${event}` })),
);

async function useClusterDatabase(): Promise<{ url: string; sql: Sql; name: string }> {
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  await createClusterDatabase(nodes, name);
  const url = withDatabase(server, name);
  await migrateUnreleased(url);
  const sql = connect(url, { max: 4, applicationName: "svc test" });
  afterAll(async () => {
    await sql.end({ timeout: 0 });
    await onEachNode(nodes, `drop database ${name} with (force)`);
  });
  return { url, sql, name };
}

async function filled(sql: Sql): Promise<TestEnvironment> {
  const environment = await TestEnvironment.create(sql, MODEL);
  await environment.ingest(history);
  await environment.evaluate({ at: at(600), settleSeconds: 0 });
  return environment;
}

/** The number of distributed tables. */
async function distributed(sql: Sql): Promise<number> {
  const [row] = await sql<[{ tables: number }]>`
    select count(*)::integer as tables from pg_catalog.pg_dist_partition where partmethod = 'h'`;
  return row.tables;
}

describe.skipIf(nodes.length === 1)("on a cluster, which a server without nodes is not", () => {
  it("goes up over existing rows, and down again, and neither loses nor changes anything", async () => {
    const { url, sql } = await useClusterDatabase();
    const catalog = await describeCatalog(sql);
    const before = await filled(sql);
    const kept = await derived(before);

    await installPack(url, "citus");
    expect(await distributed(sql)).toBeGreaterThan(25);
    expect(await derived(before)).toEqual(kept);
    // A new environment is placed automatically, with the same results.
    const during = await filled(sql);
    expect(await derived(during)).toEqual(kept);
    await before.send(history);
    await before.evaluate();
    expect(await derived(before), "all keys are known").toEqual(kept);
    expect(await violations(sql)).toEqual([]);

    await removePack(url, "citus");
    await migrateUnreleased(url);
    expect(await distributed(sql)).toBe(0);
    expect(await describeCatalog(sql)).toEqual(catalog);
    expect(await derived(before)).toEqual(kept);
    expect(await derived(during)).toEqual(kept);
    expect(await violations(sql)).toEqual([]);
  });

  it("keeps its functions usable on the nodes when they are applied again", async () => {
    const { url, sql } = await useClusterDatabase();
    await installPack(url, "citus");
    await sql`delete from svc_migrate.applied_code`;
    expect(await migrateUnreleased(url)).toMatchObject({ code: "applied" });
    expect(await sql`select proname from pg_proc where proconfig::text ~ 'plan_cache_mode'`).toHaveLength(0);
    const environment = await filled(sql);
    expect((await derived(environment))["documents"]).toHaveLength(CUSTOMERS.length);
  });

  it("lets a reader see the views' content: only their columns on the nodes, only the views on the coordinator", async () => {
    const { url, sql, name } = await useClusterDatabase();
    await installPack(url, "citus");
    await filled(sql);
    const user = `${name}_ann`;
    await sql.unsafe(`create role ${user} login password 'ann' in role svc_reader`);
    const readers = nodes.map((node) => {
      const as = Object.assign(new URL(withDatabase(node, name)), { username: user, password: "ann" });
      return connect(as.href, { max: 1, applicationName: "svc test reader" });
    });
    try {
      const [coordinator, ...others] = readers;
      expect(await coordinator!`select from svc_inspect.customers`).toHaveLength(CUSTOMERS.length);
      for (const table of ["customers", "webhooks"])
        await expect(coordinator!.unsafe(`select from svc.${table}`)).rejects.toThrow(
          "permission denied for schema svc",
        );
      for (const node of others) {
        expect(await node`select customer_id from svc.customers`).toHaveLength(CUSTOMERS.length);
        await expect(node`select sealed_secret from svc.webhooks`).rejects.toThrow(
          "permission denied for table webhooks",
        );
        await expect(node`update svc.customers set state = null`).rejects.toThrow(
          "permission denied for table customers",
        );
      }
    } finally {
      await Promise.all(readers.map((reader) => reader.end()));
      await sql.unsafe(`drop role ${user}`);
    }
  });

  it("queries a single node for a single environment", async () => {
    const { url, sql, name } = await useClusterDatabase();
    await installPack(url, "citus");
    await filled(sql);
    const environment = await filled(sql);
    await sql.unsafe(`alter database ${name} set citus.multi_task_query_log_level = 'error'`);
    const strict = connect(url, { max: 1, applicationName: "svc test" });
    try {
      const one = Object.assign(Object.create(environment) as TestEnvironment, { sql: strict });
      await one.send(history.map((operation) => ({ ...operation, key: `${operation.key} again` })));
      await one.evaluate();
      const id = environment.environmentId;
      const [{ state }] = await strict<[{ state: unknown }]>`select svc.state_document(${id}, 'ann') as state`;
      expect(state).toMatchObject({ customerId: "ann", lifecycle: "customer" });
      await expect(strict`select count(*) from svc.customers`).rejects.toThrow(/multi-task query/);
    } finally {
      await strict.end({ timeout: 0 });
    }
  });

  it("moves an environment to another node during ingestion, without losing or duplicating events", async () => {
    const { url, sql } = await useClusterDatabase();
    await installPack(url, "citus");
    const environment = await TestEnvironment.create(sql, MODEL);
    const [place] = await sql<[{ shard: string; host: string; port: number }]>`
      select s.shardid::text as shard, p.nodename as host, p.nodeport as port
      from pg_catalog.pg_dist_shard as s
      join pg_catalog.pg_dist_placement as d on d.shardid = s.shardid
      join pg_catalog.pg_dist_node as p on p.groupid = d.groupid
      where s.shardid = get_shard_id_for_distribution_column('svc.homes', ${environment.environmentId}::integer)`;
    const [target] = await sql<[{ host: string; port: number }]>`
      select nodename as host, nodeport as port from pg_catalog.pg_dist_node
      where shouldhaveshards and (nodename, nodeport) <> (${place.host}::text, ${place.port}::integer) limit 1`;

    let sent = 0;
    const moved = new AbortController();
    const sending = (async () => {
      while (!moved.signal.aborted) {
        await environment.send([{ customer: `c${sent % 7}`, event: "used", at: at(sent), key: `k${sent}` }]);
        sent += 1;
        await delay(5);
      }
    })();
    // Readers and writers continue except during the switch; writes that `block_writes` blocks need not be repeated.
    await sql`
      select citus_move_shard_placement(
        ${place.shard}::bigint, ${place.host}::text, ${place.port}::integer, ${target.host}::text, ${target.port}::integer, 'block_writes'
      )`;
    moved.abort();
    await sending;
    await environment.send([{ customer: "c0", event: "paid", at: at(9999), key: "last" }]);
    await environment.evaluate();
    const [stored] = await sql<[{ events: number; there: number }]>`
      select count(*)::integer as events, count(distinct idempotency_key)::integer as there
      from svc.events where environment_id = ${environment.environmentId}`;
    expect(stored).toEqual({ events: sent + 1, there: sent + 1 });
    expect(sent).toBeGreaterThan(0);
    expect(await violations(sql)).toEqual([]);
  });
});
