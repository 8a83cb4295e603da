import { cp, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Sql, TransactionSql } from "postgres";
import { afterAll, describe, expect, it } from "vitest";
import { installPack, removePack } from "../../../src/db/migrate/packs.js";
import { createEnvironment } from "../../webhooks/support/fixtures.js";
import { casesOf } from "../../support/cases.js";
import { describeCatalog } from "../../support/catalog.js";
import { createDatabase, rolledBack } from "../../support/database.js";
import { docBlocks } from "../../support/doc-blocks.js";
import { populate } from "../../support/population.js";
import { readStatements, statementsOf, type Statement } from "./statements.js";
import { useDirectory } from "../../support/directory.js";
import { isCluster } from "../../support/is-cluster.js";

// The pack `citus` without Citus, which the tests' servers lack: Citus's requirements of the tables are checked in the catalog, and
// the pack's own changes are made and undone with stand-ins for Citus's functions. test/db/migrate/packs.test.ts has the refusals.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The pack's first migration alone: its list of tables and its functions need no Citus. */
const db = await createDatabase();
const before = await describeCatalog(db.sql);
const root = await useDirectory();
const pack = path.join(root, "migrations/packs/citus");
await mkdir(pack, { recursive: true });
await cp(path.join(ROOT, "migrations/packs/citus/000001_placements.sql"), path.join(pack, "000001_placements.sql"));
await installPack(db.url, "citus", root);
afterAll(() => db.drop());

const obstacles = (sql: Sql | TransactionSql) =>
  sql<{ relation: string; obstacle: string }[]>`select relation, obstacle from svc_citus.obstacles()`;

async function placed(placement: "distributed" | "local"): Promise<string[]> {
  const rows = await db.sql<{ relation: string }[]>`
    select relation from svc_citus.placements where placement = ${placement} order by relation`;
  return rows.map(({ relation }) => relation);
}

// The program's output for the first: test/db/migrate/packs.test.ts.
const READY = { available: true, created: true, preloaded: "citus", citus: 14, postgres: 18, nodes: 2 };
it.each<[what: string, unlike: { [name in keyof typeof READY]?: unknown }, refusal: RegExp]>([
  [
    "no Citus on the server",
    { available: false, created: false, preloaded: "" },
    /^this server has no extension citus: install Citus on every node, .*, then repeat$/,
  ],
  [
    "Citus that is not preloaded",
    { created: false, preloaded: "pg_stat_statements" },
    /^this server does not preload citus: put it first in shared_preload_libraries, .*, then repeat$/,
  ],
  [
    "Citus that the database has not created",
    { created: false, preloaded: "citus,pg_stat_statements" },
    /^the extension citus is not created in this database: execute `create extension citus` in it as a superuser, then repeat$/,
  ],
  [
    "the same where the user may not see what is preloaded",
    { created: false, preloaded: null },
    /^the extension citus is not created in this database/,
  ],
  [
    "an older Citus",
    { citus: 13 },
    /^Citus 14 on PostgreSQL 18 is the oldest .*, and this is Citus 13 on PostgreSQL 18: upgrade all nodes, then repeat$/,
  ],
  ["an older PostgreSQL", { postgres: 17 }, /and this is Citus 14 on PostgreSQL 17/],
  [
    "a cluster of the coordinator alone",
    { nodes: 0 },
    /^the cluster has no node to take tables: add each with `select citus_add_node\(host, port\)`, then repeat$/,
  ],
  ["nothing", {}, /^null$/],
])("is refused for: %s", async (_, unlike, refusal) => {
  const { available, created, preloaded, citus, postgres, nodes } = { ...READY, ...unlike } as typeof READY;
  const [row] = await db.sql<[{ refusal: string | null }]>`
    select svc_citus.refusal(${available}, ${created}, ${preloaded}, ${citus}, ${postgres}, ${nodes})`;
  expect(String(row.refusal)).toMatch(refusal);
});

describe("the tables that it distributes", () => {
  it("are all classified, without obstacles", async () => {
    expect((await placed("distributed")).length).toBeGreaterThan(10);
    expect((await placed("local")).length).toBeGreaterThan(3);
    expect([...(await obstacles(db.sql))]).toEqual([]);
  });

  // Each breaks exactly one rule of the schema. Citus refuses most of them when the tables are distributed.
  it.skipIf(isCluster).each(
    casesOf(`
a table that nobody decided about
  create table svc.notes (environment_id integer not null, note text not null, primary key (environment_id, note))
  - notes: has environment_id and stands in no row of svc_citus.placements
a table that is gone
  drop table svc.retired_keys
  - retired_keys: does not exist
a key that does not begin with the environment
  alter table svc.signals add constraint signals_other unique (signal_id, environment_id)
  - signals: its key signals_other does not begin with environment_id
a key over all environments
  create unique index events_everywhere on svc.events (event_seq)
  - events: its key events_everywhere does not begin with environment_id
an exclusion over all environments
  alter table svc.signals add constraint signals_once exclude using btree (signal_id with =)
  - signals: its key signals_once does not begin with environment_id
a trigger
  create trigger _500_ask after insert on svc.inbox for each row execute function svc.tg_environments__start_numbers()
  - inbox: it has the trigger _500_ask
a foreign key to a table that stays local
  alter table svc.events add constraint events_environment_fkey foreign key (environment_id) references svc.environments
  - events: its foreign key events_environment_fkey leads out of the environment
a foreign key from a table that stays local
  alter table svc.evaluation_slots add column customer_id text collate "C",
  add constraint evaluation_slots_customer_fkey foreign key (environment_id, customer_id) references svc.customers
  - customers: the foreign key evaluation_slots_customer_fkey of svc.evaluation_slots leads to it from outside of the environment
a foreign key that does not lead with the environment
  alter table svc.signals add constraint signals_customer_fkey
  foreign key (customer_id, environment_id) references svc.customers (customer_id, environment_id)
  - signals: its foreign key signals_customer_fkey leads out of the environment
a table that is not logged
  alter table svc.inbox set unlogged
  - inbox: is not an ordinary table: partitioned, a partition, inherited from, temporary, unlogged, or with row level security
row level security
  alter table svc.inbox enable row level security
  - inbox: is not an ordinary table: partitioned, a partition, inherited from, temporary, unlogged, or with row level security
an environment of another type
  alter table svc.retired_keys alter column environment_id type bigint
  - retired_keys: its environment_id is not an integer that is never null
an identity column that is no bigint
  alter table svc.superseded_logs add column n integer generated always as identity
  - superseded_logs: its column n is numbered and not a bigint
a serial column that is no bigint
  alter table svc.superseded_logs add column n serial
  - superseded_logs: its column n is numbered and not a bigint
`),
  )("would be reported for %s", async (_, breaks, expected) => {
    const found = await rolledBack(db.sql, async (tx) => {
      await tx.unsafe(breaks);
      return [...(await obstacles(tx))];
    });
    expect(found.map(({ relation, obstacle }) => `${relation}: ${obstacle}`)).toEqual(expected);
  });
});

// A cluster has Citus's own functions, which cluster.test.ts tests.
describe.skipIf(isCluster)("the pack's own changes", () => {
  /** Creates functions with the names and parameters of Citus's that only record their calls. */
  async function standIn(tx: TransactionSql): Promise<void> {
    await tx.unsafe(`
      create temporary table calls (n integer generated always as identity, call text);
      create function pg_catalog.create_distributed_table(t regclass, key text, colocate_with text default 'default')
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('distribute %s %s %s', t, key, colocate_with)) $$;
      create function pg_catalog.truncate_local_data_after_distributing_table(t regclass)
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('truncate %s', t)) $$;
      create function pg_catalog.undistribute_table(t regclass, cascade_via_foreign_keys boolean)
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('undistribute %s', t)) $$;
      create function pg_catalog.create_distributed_function(f regprocedure)
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('copy %s', f)) $$;
      set local allow_system_table_mods = on;
      create table pg_catalog.pg_dist_object (classid oid, objid oid);
      create view pg_catalog.pg_dist_partition as
      select format('svc.%I', p.relation)::regclass as logicalrelid from svc_citus.placements as p where p.placement = 'distributed';`);
  }

  const callsOf = async (tx: TransactionSql): Promise<string[]> => {
    const rows = await tx<{ call: string }[]>`
      with gone as (delete from calls returning n, call) select call from gone order by n`;
    return rows.map(({ call }) => call);
  };

  it("distributes one table after another and the functions that statements call, and undistributes all of them", async () => {
    const all = await placed("distributed");
    const others = all.filter((name) => name !== "homes" && name !== "webhooks");
    await rolledBack(db.sql, async (tx) => {
      await standIn(tx);
      await tx`select svc_citus.distribute()`;
      const calls = await callsOf(tx);
      expect(calls.filter((call) => !call.startsWith("copy "))).toEqual([
        "distribute svc.homes environment_id none",
        ...["webhooks", ...others].map((name) => `distribute svc.${name} environment_id svc.homes`),
        ...all.map((name) => `truncate svc.${name}`),
      ]);
      const copied = calls.filter((call) => call.startsWith("copy "));
      expect(copied).toContain("copy svc.iso(timestamp with time zone)");
      expect(copied).toContain("copy svc.event_id(bigint)");
      expect(copied.join("\n"), "which takes a row of a table").not.toContain("svc.plan_document");
      // No function keeps a generic plan meanwhile.
      expect(await tx`select oid from pg_proc where proconfig::text ~ 'plan_cache_mode'`).toHaveLength(0);
      await tx`select svc_citus.gather()`;
      expect(await callsOf(tx)).toEqual(
        [...all.filter((name) => name !== "homes"), "homes"].map((name) => `undistribute svc.${name}`),
      );
    });
  });

  it("numbers rows by sequences meanwhile, which Citus can undistribute, and continues the numbers both ways", async () => {
    const environmentId = await createEnvironment(db.sql);
    await populate(db.sql, environmentId, { customers: 20, events: 40 });
    const numbered = async (tx: TransactionSql) => {
      const [row] = await tx<[{ seq: string }]>`
        insert into svc.health_scores (environment_id, customer_id, overall, components, band, scored_at, cause_type)
        values (${environmentId}, 'customer-000000', 50, '{}', 'healthy', now(), 'timer') returning score_seq as seq`;
      return Number(row.seq);
    };
    await rolledBack(db.sql, async (tx) => {
      await standIn(tx);
      const original = await describeCatalog(tx as unknown as Sql);
      const first = await numbered(tx);
      await tx`select svc_citus.distribute()`;
      const identities = await tx`select relation, name from svc_citus.numbered_columns() where is_identity`;
      expect([...identities]).toEqual([]);
      expect(await numbered(tx)).toBe(first + 1);
      await tx`select svc_citus.gather()`;
      expect(await numbered(tx)).toBe(first + 2);
      const tables = (lines: string[]) => lines.filter((line) => !line.startsWith("function "));
      expect(tables(await describeCatalog(tx as unknown as Sql))).toEqual(tables(original));
      const applied = await tx`select from svc_migrate.applied_code`;
      expect(applied.length, "so that the next start applies functions, views and rights again").toBe(0);
    });
  });

  it("refuses if there are obstacles, by name", async () => {
    const distributed = rolledBack(db.sql, async (tx) => {
      await standIn(tx);
      await tx`create unique index events_everywhere on svc.events (event_seq)`;
      await tx`select svc_citus.distribute()`;
    });
    await expect(distributed).rejects.toMatchObject({
      code: "55000",
      message: expect.stringMatching(
        /^svc\.events cannot be distributed: its key events_everywhere does not begin with environment_id\./,
      ) as string,
    });
  });
});

const statements = await readStatements(ROOT);
const guide = await readFile(path.join(ROOT, "docs/scale.md"), "utf8");
const distributed = new Set((await placed("distributed")).map((name) => `svc.${name}`));

/** Functions and views over all environments: due work, expired rows, and invariants. */
const OVER_ALL =
  /^svc\.(broken_\w+|open_webhooks|job_queues|logged_changes|all_trend_counts)$|^svc_api\.(claim_deliveries|environments_to_\w+|metrics|release_webhooks|sweep_recomputes|sweep_webhooks|request_due_evaluations)$|^svc_inspect\./;

describe("the statements of the service's functions", () => {
  const touches = (names: Iterable<string>) => [...names].some((name) => distributed.has(name));
  const spread = statements.filter(({ tables }) => touches(tables));
  const namesOf = (found: Statement[]) => [...new Set(found.map(({ of }) => of))].sort();

  it.each([
    ["delete from svc.inbox as i where i.environment_id = _id and i.seq = 1", "unscoped", []],
    [
      "delete from svc.inbox as i where i.ctid = any(array(select k.ctid from svc.inbox as k where k.environment_id = _id))",
      "unscoped",
      ["svc.inbox"],
    ],
    ["update svc.inbox as i set seq = 2 where i.environment_id = _id or i.seq = 1", "unscoped", ["svc.inbox"]],
    ["with gone as (delete from svc.events where true returning 1) select 1 into _n", "unscoped", ["svc.events"]],
    [
      "update svc.inbox as i set seq = 2 from svc.events as e where i.environment_id > e.environment_id",
      "unscoped",
      ["svc.inbox"],
    ],
    ["insert into svc.inbox select _id, u.c, u.n from unnest(_c, _n) as u (c, n)", "unanchored", ["svc.inbox"]],
    ["insert into svc.inbox values (_id, 'c', 1)", "unanchored", []],
    ["insert into svc.inbox select h.environment_id, 'c', 1 from svc.homes as h", "unanchored", []],
    ["select count(*) into _n from svc.events as e where e.environment_id = _id", "unrestricted", []],
    [
      "select 1 into _n from svc.events as e, svc.inbox as i where i.environment_id = e.environment_id and e.environment_id = f.environment_id",
      "unrestricted",
      ["svc.inbox"],
    ],
    [
      "update svc.inbox as i set seq = case when svc.g(_id) then svc.h(1) end where i.environment_id = _id",
      "conditionalCalls",
      ["svc.g", "svc.h"],
    ],
    ["update svc.inbox as i set seq = svc.g(_id) where i.environment_id = _id", "conditionalCalls", []],
  ] as const)("are analyzed correctly: %s", (statement, of, expected) => {
    const file = `create or replace function svc.f()\nreturns void\nlanguage plpgsql\nas $$\ndeclare\n  _n integer;\n  _id integer;\nbegin\n  ${statement};\nend;\n$$;\n`;
    expect(statementsOf(file).flatMap((found) => found[of])).toEqual(expected);
  });

  it("change rows of a named environment only, except the leases of a stopping worker", () => {
    expect(namesOf(spread.filter(({ unscoped }) => touches(unscoped)))).toEqual(["svc_api.release_webhooks"]);
  });

  it("insert rows from arrays joined with a table of the environment, with all queries inside the insert", () => {
    expect(namesOf(spread.filter(({ unanchored }) => touches(unanchored)))).toEqual([]);
    expect(namesOf(spread.filter(({ withBeforeInsert }) => withBeforeInsert))).toEqual([]);
  });

  it("read from each table the rows of a given environment only, except those over all environments", () => {
    expect(namesOf(spread.filter(({ of, unrestricted }) => !OVER_ALL.test(of) && touches(unrestricted)))).toEqual([]);
  });

  it("call only immutable functions within case and coalesce of updates and deletes", async () => {
    const immutable = await db.sql<{ name: string }[]>`
      select case n.nspname when 'pg_catalog' then '' else n.nspname || '.' end || p.proname as name
      from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
      group by n.nspname, p.proname
      having bool_and(p.provolatile = 'i')`;
    const known = new Set(immutable.map(({ name }) => name));
    expect(
      namesOf(spread.filter(({ conditionalCalls }) => !conditionalCalls.every((name) => known.has(name)))),
    ).toEqual([]);
  });

  it("read tables of the coordinator separately, except the views and the invariants", () => {
    const mixed = spread.filter(({ of, tables }) => {
      const known = [...tables].filter((name) => /^(svc|iam|graphile_worker)\./.test(name) && !OVER_ALL.test(name));
      return !/^svc_inspect\.|^svc\.broken_/.test(of) && !known.every((name) => distributed.has(name));
    });
    expect(namesOf(mixed)).toEqual([]);
  });

  it("are texts, so that no function depends on a table", () => {
    expect(namesOf(spread.filter(({ atomic }) => atomic))).toEqual([]);
  });
});

describe("docs/scale.md", () => {
  /** The names in the list after a mark. */
  const listed = (mark: string) => {
    const [, list] =
      new RegExp(`<!-- test/db/citus/pack\\.test\\.ts: ${mark} -->\\n\\n([^]*?)\\n\\n`).exec(guide) ?? [];
    return [...(list ?? "").matchAll(/`([\w.]+)`/g)].map(([, name]) => name!);
  };

  it("moves an environment with the functions that a test on a cluster calls", async () => {
    const block = docBlocks(guide).find(({ heldBy }) => heldBy.includes("test/db/citus/pack.test.ts"))!;
    const called = [...block.code.matchAll(/select (\w+)\(/g)].map(([, name]) => name!);
    expect(called).toHaveLength(2);
    const test = await readFile(path.join(ROOT, "test/db/citus/cluster.test.ts"), "utf8");
    for (const name of called) expect(test).toContain(`${name}(`);
  });

  it("names the tables that it distributes", async () => {
    expect(listed("distributed").sort()).toEqual(await placed("distributed"));
    expect(listed("local").sort()).toEqual(await placed("local"));
  });
});

it.skipIf(isCluster)("leaves nothing behind", async () => {
  await removePack(db.url, "citus", root);
  expect(await describeCatalog(db.sql)).toEqual(before);
});
