import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { installPack, listPacks, removePack } from "../../../src/db/migrate/packs.js";
import { describeCatalog } from "../../support/catalog.js";
import { migrateUnreleased } from "../../support/migrate.js";
import { useDatabase, createEmptyDatabase } from "../../support/database.js";
import { refused, runServer } from "../../server/support/run-server.js";
import { populate } from "../../support/population.js";
import { createEnvironment } from "../../webhooks/support/fixtures.js";

// `svc-server packs`, and what the pack `reporting` brings.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SIZE = { customers: 600, events: 4000 };

const db = await useDatabase();
const before = await describeCatalog(db.sql);
await populate(db.sql, await createEnvironment(db.sql), SIZE);
afterAll(() => removePack(db.url, "reporting"));

/** The guide's blocks, in its order. */
const [commands, chart, refreshed, role, beforeCitus, upCitus] = [
  ...readFileSync(path.join(ROOT, "docs/operations/packs.md"), "utf8").matchAll(
    /<!-- test\/db\/migrate\/packs\.test\.ts [^\n]*\n\n```(?:bash|sql)\n([\s\S]*?)```/g,
  ),
].map(([, text]) => text!);

const packs = (...args: string[]) => runServer(db.url, ["packs", ...args], { LOG_LEVEL: "warn" });

const printed = (stdout: string) => ({ code: 0, stdout, stderr: "" });
const ABOUT = "A read-only role, and daily figures for charts: events, lifecycle, segments, health, webhooks.";
const CITUS =
  "Citus: spreads what belongs to customers over the nodes of a cluster, by environment. For trials; see docs/scale.md.";
const reportingRole = () => db.sql`select rolcanlogin from pg_roles where rolname = 'svc_reporting'`;

it("goes up and down by the guide's commands, and leaves nothing behind", async () => {
  const used = ["list", "up reporting", "down reporting"].map((line) => `node bin/svc-server.js packs ${line}\n`);
  expect(commands).toBe(used.join(""));
  expect(await packs("list")).toEqual(printed(`citus\tnot installed\t${CITUS}\nreporting\tnot installed\t${ABOUT}\n`));
  expect(await packs("up", "reporting")).toEqual(printed("The pack reporting is installed.\n"));
  expect(await installPack(db.url, "reporting"), "a second time").toEqual([]);
  expect(await listPacks(db.url)).toEqual([
    { name: "citus", about: CITUS, migrations: 2, applied: 0 },
    { name: "reporting", about: ABOUT, migrations: 1, applied: 1 },
  ]);
  expect(await describeCatalog(db.sql)).not.toEqual(before);
  expect(await reportingRole()).toEqual([{ rolcanlogin: false }]);

  expect(await packs("down", "reporting", "--json")).toEqual(
    printed('{"name":"reporting","migrations":["000001_daily-aggregates"]}\n'),
  );
  expect(await describeCatalog(db.sql)).toEqual(before);
  expect(await reportingRole()).toEqual([]);
  expect(await removePack(db.url, "reporting"), "a second time").toEqual([]);
  const [ledger] = await db.sql`select to_regnamespace('svc_packs') as schema`;
  expect(ledger).toEqual({ schema: null });
});

it("goes up and down for a user who may make no roles, where somebody else made the pack's", async () => {
  const user = `svc_test_plain_${randomBytes(4).toString("hex")}`;
  const theirs = await createEmptyDatabase();
  try {
    await db.sql.unsafe(`create role svc_reporting nologin in role svc_reader; create role ${user} login password 'x'`);
    const url = new URL(theirs.url);
    await db.sql.unsafe(`alter database ${url.pathname.slice(1)} owner to ${user}`);
    Object.assign(url, { username: user, password: "x" });
    await migrateUnreleased(url.href);
    await installPack(url.href, "reporting");
    await removePack(url.href, "reporting");
    expect(await theirs.sql`select from pg_namespace where nspname = 'svc_reporting'`).toHaveLength(0);
    expect(await reportingRole(), "is theirs who made it").toHaveLength(1);
  } finally {
    await theirs.drop();
    await db.sql.unsafe(`drop role if exists svc_reporting; drop role if exists ${user}`);
  }
});

it("refuses a pack that there is not, and commands that there are not", async () => {
  expect(await packs("up", "repotring")).toEqual(refused("there is no pack `repotring`; there is citus, reporting"));
  expect(await packs()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Name a command of packs") as string,
  });
});

// What it does where there is Citus: test/db/citus/pack.test.ts.
it("has a guide that prepares for the pack citus by what the program asks for", async () => {
  expect(upCitus).toBe("node bin/svc-server.js packs up citus\n");
  const { stderr } = await packs("up", "citus");
  const [extension, mark] = beforeCitus!.trim().split("\n");
  expect(stderr).toContain(`\`${extension!.replace(";", "")}\``);
  const name = new URL(db.url).pathname.slice(1);
  await db.sql.unsafe(mark!.replace("database svc", `database "${name}"`));
  await db.sql.unsafe(`alter database "${name}" reset svc.citus_trial`);
});

it("refuses the pack citus on a server without Citus, and leaves the database as it was", async () => {
  const catalog = await describeCatalog(db.sql);
  expect(await packs("up", "citus")).toEqual(
    refused(
      "pack citus: this server has no extension citus: install Citus on every node, preload it " +
        "(shared_preload_libraries = 'citus'), restart, execute `create extension citus` in this database as a superuser, then " +
        "repeat (55000)",
    ),
  );
  expect(await describeCatalog(db.sql)).toEqual(catalog);
  expect(await packs("down", "citus")).toEqual(printed("The pack citus is not installed.\n"));
  expect(await describeCatalog(db.sql)).toEqual(catalog);
});

describe("the pack reporting", () => {
  beforeAll(() => installPack(db.url, "reporting").then(() => undefined));

  const refresh = () => db.sql`select svc_reporting.refresh()`;
  const sum = async (table: string, column: string): Promise<number> => {
    const [row] =
      await db.sql`select coalesce(sum(${db.sql(column)}), 0)::int as sum from svc_reporting.${db.sql(table)}`;
    return row!["sum"] as number;
  };

  it("stays out of the way where somebody built on it, and says what that is", async () => {
    await db.sql`create view public.chart as select day, events from svc_reporting.events_by_day`;
    await expect(removePack(db.url, "reporting")).rejects.toThrow(
      /^pack reporting: cannot drop .*view chart depends on materialized view/s,
    );
    await db.sql`drop view public.chart`;
    expect(await listPacks(db.url)).toMatchObject([{ applied: 0 }, { name: "reporting", migrations: 1, applied: 1 }]);
  });

  it("has figures that agree with what they are made of", async () => {
    await refresh();
    expect(await sum("events_by_day", "events")).toBe(SIZE.events);
    const [transitions] = await db.sql`select count(*)::int as n from svc_inspect.lifecycle_transitions`;
    expect(await sum("transitions_by_day", "transitions")).toBe(transitions!["n"]);
    const [webhooks] = await db.sql`select count(*)::int as n from svc_inspect.deliveries`;
    expect(await sum("deliveries_by_day", "deliveries")).toBe(webhooks!["n"]);
    const standing = await db.sql`
      select measure, sum(customers)::int as customers from svc_reporting.customers_by_day group by measure order by measure`;
    const [expected] = await db.sql`
      select
        (select count(*)::int from svc_inspect.customers where health_band is not null) as health_band,
        (select count(*)::int from svc_inspect.customers where lifecycle is not null) as lifecycle,
        (select count(*)::int from svc_inspect.segment_members) as segment`;
    expect(Object.fromEntries(standing.map((row) => [row["measure"], row["customers"]]))).toEqual(expected);
    expect(await db.sql`select took > interval '0' as took from svc_reporting.last_refresh`).toEqual([{ took: true }]);
  });

  it("answers the guide's statements", async () => {
    await db.sql.unsafe(refreshed!);
    expect((await db.sql.unsafe(chart!)).length).toBeGreaterThan(0);
    await expect(db.sql.begin((tx) => tx.unsafe(`${role!}; do $$ begin raise 'rolled back'; end $$`))).rejects.toThrow(
      "rolled back",
    );
  });

  it("keeps where customers stood on earlier days, and counts a day anew", async () => {
    await refresh();
    const [first] = await db.sql`
      update svc_reporting.customers_by_day set day = day - 1 where measure = 'lifecycle' and value = 'active' returning customers`;
    await db.sql`update svc.customers set lifecycle = 'quiet' where customer_id = 'customer-000001'`;
    await refresh();
    await refresh();
    const days = await db.sql`
      select customers::int from svc_reporting.customers_by_day where measure = 'lifecycle' and value = 'active' order by day`;
    const active = Number(first!["customers"]);
    expect([...days]).toEqual([{ customers: active }, { customers: active - 1 }]);
  });

  it("lets its role read the figures and svc_inspect, and nothing else, and change nothing", async () => {
    const user = `${db.name}_chart`;
    await db.sql.unsafe(`create role ${user} login password 'test' in role svc_reporting`);
    const url = Object.assign(new URL(db.url), { username: user, password: "test" });
    const sql = connect(url.href, { max: 1, applicationName: "svc test" });
    try {
      expect((await sql`select * from svc_reporting.events_by_day limit 1`).length).toBeLessThanOrEqual(1);
      expect((await sql`select * from svc_inspect.customers limit 1`).length).toBe(1);
      for (const statement of [
        "select * from svc.customers",
        "select * from iam.users",
        "delete from svc_reporting.customers_by_day",
        "select svc_reporting.refresh()",
        "select svc_api.unready_reasons()",
        "create table svc_reporting.mine ()",
      ]) {
        await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ code: "42501" });
      }
    } finally {
      await sql.end();
      await db.sql.unsafe(`drop role ${user}`);
    }
  });

  it("says of each column what it is", async () => {
    const bare = await db.sql`
      select c.relname, a.attname from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
      where c.relnamespace = 'svc_reporting'::regnamespace and c.relkind in ('r', 'm')
        and col_description(c.oid, a.attnum) is null`;
    expect([...bare]).toEqual([]);
  });

  it("is in the way of no migration of what it reads", async () => {
    const tables = await db.sql`
      select distinct v.relname as reader, t.oid::regclass::text as table
      from pg_depend as d
      join pg_rewrite as r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
      join pg_class as v on v.oid = r.ev_class and v.relnamespace = 'svc_reporting'::regnamespace
      join pg_class as t on t.oid = d.refobjid and d.refclassid = 'pg_class'::regclass and t.oid <> v.oid
      where t.relnamespace <> 'svc_inspect'::regnamespace`;
    expect([...tables]).toEqual([]);
  });
});
