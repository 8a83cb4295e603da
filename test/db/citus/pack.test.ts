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
import { populate } from "../../support/population.js";
import { readStatements, statementsOf, type Statement } from "./statements.js";
import { useDirectory } from "../../support/directory.js";

// The pack `citus` without Citus, which the tests' servers do not have: what Citus requires of the tables is looked up in the catalog, and
// the pack's own changes are made and undone beside functions that stand in for Citus's. test/db/migrate/packs.test.ts has the refusals.

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

// What the program says of the first: test/db/migrate/packs.test.ts.
it.each<[string, available: boolean, created: boolean, preloaded: string | null, trial: string | null, RegExp | null]>([
  [
    "no Citus on the server",
    false,
    false,
    "",
    "on",
    /^this server has no extension citus: install Citus on every node, .*, then repeat$/,
  ],
  [
    ...(["Citus that is not preloaded", true, false, "pg_stat_statements", "on"] as const),
    /^this server does not preload citus: put it first in shared_preload_libraries, .*, then repeat$/,
  ],
  [
    ...(["Citus that the database has not created", true, false, "citus,pg_stat_statements", "on"] as const),
    /^the extension citus is not created in this database: execute `create extension citus` in it as a superuser, then repeat$/,
  ],
  [
    ...(["the same where the user may not see what is preloaded", true, false, null, "on"] as const),
    /^the extension citus is not created in this database/,
  ],
  [
    ...(["a database that nobody may lose", true, true, "citus", null] as const),
    /^the pack citus is for trials .* `alter database svc_test_\w+ set svc\.citus_trial = 'on'`, then repeat$/,
  ],
  ["nothing", true, true, "citus", "on", null],
])("is refused for: %s", async (_, available, created, preloaded, trial, refusal) => {
  const [row] = await db.sql<[{ refusal: string | null }]>`
    select svc_citus.refusal(${available}, ${created}, ${preloaded}, ${trial})`;
  if (refusal === null) expect(row.refusal).toBeNull();
  else expect(row.refusal).toMatch(refusal);
});

describe("the tables that it distributes", () => {
  it("are decided about, and nothing of them is in the way", async () => {
    expect((await placed("distributed")).length).toBeGreaterThan(10);
    expect((await placed("local")).length).toBeGreaterThan(5);
    expect([...(await obstacles(db.sql))]).toEqual([]);
  });

  // Each breaks one rule, and only that, of the schema as it is.
  it.each(
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
  create trigger _500_ask after insert on svc.inbox referencing new table as new_batches for each statement
  execute function svc.tg_ingest_batches__request_evaluation()
  - inbox: it has the trigger _500_ask
a foreign key to a table that stays local
  alter table svc.events add constraint events_environment_fkey foreign key (environment_id) references svc.environments
  - events: its foreign key events_environment_fkey leads out of the environment
a foreign key from a table that stays local
  alter table svc.webhooks add column customer_id text collate "C",
  add constraint webhooks_customer_fkey foreign key (environment_id, customer_id) references svc.customers
  - customers: the foreign key webhooks_customer_fkey of svc.webhooks leads to it from outside of the environment
a foreign key that does not lead with the environment
  alter table svc.signals add constraint signals_customer_fkey
  foreign key (customer_id, environment_id) references svc.customers (customer_id, environment_id)
  - signals: its foreign key signals_customer_fkey leads out of the environment
a foreign key within the environment, which the way back has no answer to
  alter table svc.signals add constraint signals_customer_fkey foreign key (environment_id, customer_id) references svc.customers
  - signals: its foreign key signals_customer_fkey would be in the way of making the table local again
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
  )("would be told of %s", async (_, breaks, expected) => {
    const found = await rolledBack(db.sql, async (tx) => {
      await tx.unsafe(breaks);
      return [...(await obstacles(tx))];
    });
    expect(found.map(({ relation, obstacle }) => `${relation}: ${obstacle}`)).toEqual(expected);
  });
});

describe("what it changes itself", () => {
  /** Functions with the names and the parameters of Citus's, which only note that they were called. */
  async function standIn(tx: TransactionSql): Promise<void> {
    await tx.unsafe(`
      create temporary table calls (n integer generated always as identity, call text);
      create function pg_catalog.create_distributed_table(t regclass, key text, colocate_with text default 'default')
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('distribute %s %s %s', t, key, colocate_with)) $$;
      create function pg_catalog.truncate_local_data_after_distributing_table(t regclass)
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('truncate %s', t)) $$;
      create function pg_catalog.undistribute_table(t regclass)
      returns void language sql as $$ insert into pg_temp.calls (call) values (format('undistribute %s', t)) $$;`);
  }

  const callsOf = async (tx: TransactionSql): Promise<string[]> => {
    const rows = await tx<{ call: string }[]>`
      with gone as (delete from calls returning n, call) select call from gone order by n`;
    return rows.map(({ call }) => call);
  };

  it("distributes one table after the other beside the customers, and takes all of them back", async () => {
    const tables = (await placed("distributed")).filter((name) => name !== "customers");
    await rolledBack(db.sql, async (tx) => {
      await standIn(tx);
      await tx`select svc_citus.distribute()`;
      expect(await callsOf(tx)).toEqual([
        "distribute svc.customers environment_id none",
        "truncate svc.customers",
        ...tables.flatMap((name) => [`distribute svc.${name} environment_id svc.customers`, `truncate svc.${name}`]),
      ]);
      await tx`select svc_citus.gather()`;
      expect(await callsOf(tx)).toEqual([...tables, "customers"].map((name) => `undistribute svc.${name}`));
    });
  });

  it("numbers rows by sequences meanwhile, which Citus can take back, and goes on counting both ways", async () => {
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
      expect(await describeCatalog(tx as unknown as Sql)).toEqual(original);
      const applied = await tx`select from svc_migrate.applied_code`;
      expect(applied.length, "so that the next start applies functions, views and rights again").toBe(0);
    });
  });

  it("refuses where something is in the way, by name", async () => {
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

describe("docs/scale.md", () => {
  /** The names in the list that follows a mark. */
  const listed = (mark: string) => {
    const [, list] =
      new RegExp(`<!-- test/db/citus/pack\\.test\\.ts: ${mark} -->\\n\\n([^]*?)\\n\\n`).exec(guide) ?? [];
    return [...(list ?? "").matchAll(/`([\w.]+)`/g)].map(([, name]) => name!);
  };
  const namesOf = (found: Statement[]) => [...new Set(found.map(({ of }) => of))].sort();

  it("names the tables that it distributes", async () => {
    expect(listed("distributed").sort()).toEqual(await placed("distributed"));
    expect(listed("local").sort()).toEqual(await placed("local"));
  });

  it.each([
    ["delete from svc.inbox as i where i.environment_id = _id and i.seq = 1", []],
    [
      "delete from svc.inbox as i where i.ctid = any(array(select k.ctid from svc.inbox as k where k.environment_id = _id))",
      ["svc.inbox"],
    ],
    ["update svc.inbox as i set not_before = null where i.environment_id = _id or i.seq = 1", ["svc.inbox"]],
    ["with gone as (delete from svc.events where true returning 1) select count(*) into _n from gone", ["svc.events"]],
    [
      "update svc.inbox as i set seq = e.event_seq from svc.events as e where i.environment_id > e.environment_id",
      ["svc.inbox"],
    ],
  ])("looks for them as it should: %s", (statement, unscoped) => {
    const file = `create or replace function svc.f()\nreturns void\nlanguage plpgsql\nas $$\ndeclare\n  _n integer;\n  _id integer;\nbegin\n  ${statement};\nend;\n$$;\n`;
    expect(statementsOf(file).flatMap((found) => found.unscoped)).toEqual(unscoped);
  });

  it("names the functions that change rows of a distributed table without saying of which environment", () => {
    const unscoped = statements.filter((statement) => statement.unscoped.some((table) => distributed.has(table)));
    expect(listed("unscoped").sort()).toEqual(namesOf(unscoped));
  });

  it("names the functions with statements over distributed and local tables at once", () => {
    const mixed = statements.filter(({ of, tables }) => {
      const known = [...tables].filter((name) => /^(svc|iam|graphile_worker)\./.test(name));
      return (
        !of.startsWith("svc_inspect.") &&
        known.some((name) => distributed.has(name)) &&
        !known.every((name) => distributed.has(name))
      );
    });
    expect(listed("mixed").sort()).toEqual(namesOf(mixed));
  });
});

it("leaves nothing behind", async () => {
  await removePack(db.url, "citus", root);
  expect(await describeCatalog(db.sql)).toEqual(before);
});
