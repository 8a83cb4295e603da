import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConstraints, readIndexNames } from "../../src/db/migrate/files.js";
import { migrate } from "../../src/db/migrate/migrate.js";
import { examinationReport } from "../../src/server/doctor.js";
import { createDatabase, createEmptyDatabase } from "../support/database.js";
import { docBlocks } from "../support/doc-blocks.js";
import { temporaryDirectory } from "../support/server.js";
import { useIngest } from "../http/ingest/fixture.js";
import { refused, runServer, type Run } from "./support/run-server.js";

// `svc-server doctor` while a service runs on the same database.

const fixture = await useIngest();
await fixture.batch([{ customerId: "c", event: "e", idempotencyKey: "k1" }]);
async function doctor(url?: string, ...args: string[]): Promise<Run> {
  const run = await runServer(url ?? fixture.service.db.url, ["doctor", ...args]);
  return { ...run, stdout: run.stdout.replaceAll(/\d+\.\d s\b/g, "T s").replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, "T") };
}

describe("svc-server doctor", () => {
  it("reports that all is well, with the current state", async () => {
    const [{ checks }] = await fixture.service.db.sql<[{ checks: string }]>`
      select count(*) as checks from svc.known_invariants()`;
    const { code, stdout, stderr } = await doctor();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      // The indexes and the constraints are not among the invariants of the data.
      `All is well: ${Number(checks) + 2} checks in T s.`,
      "",
      expect.stringMatching(/^last migration: (\d{6}\.sql|none)$/),
      "workers alive: 0",
      "operations that wait for a worker: 1, the oldest since T",
      "customers set aside: 0",
      "webhooks disabled: 0; failing: 0",
      "",
    ]);
  });

  it("only lists frozen environments", async () => {
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, set_aside_at, set_aside_error)
      select environment_id, 'set aside', now(), now(), 'why' from svc.environments where name = 'test'`;
    expect((await doctor()).stdout).toContain("\ncustomers set aside: 1\n");
    await sql`update svc.environments set frozen_at = now() where name = 'test'`;
    expect((await doctor()).stdout).toContain(
      "operations that wait for a worker: 0\ncustomers set aside: 0\nwebhooks disabled: 0; failing: 0\nenvironments frozen, not counted above: 1\n",
    );
    await sql`update svc.environments set frozen_at = null`;
    await sql`delete from svc.customers where customer_id = 'set aside'`;
  });

  it("is called as in docs/operations/doctor.md", async () => {
    const page = docBlocks(readFileSync(new URL("../../docs/operations/doctor.md", import.meta.url), "utf8"));
    const [call, answer, ...more] = page.filter(({ heldBy }) => heldBy.length > 0).map(({ code }) => code);
    expect([call, more]).toEqual(["svc-server doctor\n", ["select * from svc_inspect.invariants();\n"]]);
    const labels = (text: string) => text.split("\n").map((line) => line.replace(/[:;,] .*|\d+/g, ""));
    expect(labels((await doctor()).stdout)).toEqual(labels(answer!));
    const rows = await fixture.service.db.sql.begin(async (tx) => {
      await tx`set local role svc_reader`;
      return tx.unsafe(more[0]!);
    });
    expect([...rows]).toEqual([]);
  });

  it("reports what is wrong, where, and what to do, as text and as JSON, and changes nothing", async () => {
    const { sql } = fixture.service.db;
    await sql`delete from svc.idempotency_keys`;
    const { code, stdout } = await doctor();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^events_have_their_key {2}acme\/app, test\n {2}violated: Every event [^\n]+\n {2}- the event evt_[0-9a-f]{16} has the key "k1", which is not known\n {2}what to do: [^\n]+\n\n1 of \d+ checks found something, in T s\. Nothing was changed\.\n/,
    );
    const json = await doctor(undefined, "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      isWell: false,
      violations: [{ invariant: "events_have_their_key", organization: "acme", project: "app", environment: "test" }],
    });
    expect(await sql`select from svc.idempotency_keys`).toHaveLength(0);
  });

  it("names the indexes that a restore left out or could not finish", async () => {
    const { sql } = fixture.service.db;
    const [{ key }] = await sql<[{ key: string }]>`
      select pg_get_constraintdef(oid) as key from pg_constraint where conname = 'customers_pkey'`;
    await sql`alter table svc.customers drop constraint customers_pkey cascade`;
    await sql`update pg_index set indisvalid = false where indexrelid = 'iam.memberships_user_idx'::regclass`;
    const { code, stdout } = await doctor();
    await sql.unsafe(`alter table svc.customers add ${key}`);
    await sql`update pg_index set indisvalid = true where indexrelid = 'iam.memberships_user_idx'::regclass`;
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^indexes_exist\n {2}violated: Every table has [^\n]+\n {2}- the index iam\.memberships_user_idx is not valid\n {2}- the index svc\.customers_pkey does not exist\n {2}what to do: For one that is not valid: reindex index concurrently, [^\n]+\n\n/,
    );
  });

  it("names foreign keys and triggers that a restore left out or disabled", async () => {
    const { sql } = fixture.service.db;
    const [{ key }] = await sql<[{ key: string }]>`
      select pg_get_constraintdef(oid) as key from pg_constraint where conname = 'usage_checks_environment_id_fkey'`;
    await sql`alter table svc.usage_checks drop constraint usage_checks_environment_id_fkey`;
    await sql`drop trigger _500_end_password_links on iam.memberships`;
    await sql`alter table svc.projects disable trigger all`;
    const { code, stdout } = await doctor();
    await sql`alter table svc.projects enable trigger all`;
    const alter = "alter table svc.usage_checks add constraint usage_checks_environment_id_fkey";
    await sql.unsafe(`${alter} ${key} not valid`);
    await migrate(fixture.service.db.url, { again: true });
    const { stdout: later } = await doctor();
    await sql`alter table svc.usage_checks validate constraint usage_checks_environment_id_fkey`;
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^constraints_are_enforced\n {2}violated: Every table has [^\n]+\n {2}- the foreign key svc\.usage_checks\.usage_checks_environment_id_fkey does not exist\n {2}- the table svc\.projects has disabled triggers\n {2}- the trigger iam\.memberships\._500_end_password_links does not exist\n {2}what to do: [^\n]+\n\n/,
    );
    expect(later).toMatch(
      /^constraints_are_enforced\n[^\n]+\n {2}- the foreign key svc\.usage_checks\.usage_checks_environment_id_fkey is not valid\n {2}what to do: [^\n]+\n\n/,
    );
    expect((await doctor()).stdout).not.toContain("constraints_are_enforced");
  });

  it("names the setting under which no foreign key is checked and no trigger runs", async () => {
    const { sql, name } = fixture.service.db;
    await sql.unsafe(`alter database ${name} set session_replication_role = replica`);
    const { code, stdout } = await doctor();
    await sql.unsafe(`alter database ${name} reset session_replication_role`);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^constraints_are_enforced\n[^\n]+\n {2}- session_replication_role is replica for \w+, which switches all of them off\n {2}what to do: [^\n]+ svc-server migrate prints the statement\.\n\n/,
    );
  });

  it("names a record of migrations without rows, as a restore without data leaves it, and no program starts there", async () => {
    const empty = await createDatabase();
    onTestFinished(() => empty.drop());
    await empty.sql`truncate graphile_migrate.migrations`;
    const { code, stdout } = await runServer(empty.url, ["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^migrations_are_recorded\n[^]*what to do: The database was restored without data\./);
    expect(await runServer(empty.url, ["migrate"])).toEqual(
      refused(
        "the database has the service's tables, but no record of its migrations, as after a restore of a dump without data; " +
          "restore the schemas graphile_migrate, graphile_worker and svc_migrate with their data, too, or name an empty database",
      ),
    );
  });

  it("knows all indexes of the service's schemas by the files that create them", async () => {
    const rows = await fixture.service.db.sql<{ name: string }[]>`
      select format('%s.%s', n.nspname, c.relname) as name
      from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
      where c.relkind = 'i' and n.nspname in ('svc', 'iam') order by 1`;
    expect((await readIndexNames()).sort()).toEqual(rows.map(({ name }) => name).sort());
  });
});

it("doctor knows all foreign keys and triggers of the service's tables by the files that create them", async () => {
  const rows = await fixture.service.db.sql<{ kind: string; name: string }[]>`
    select kind, format('%s.%s.%s', n.nspname, c.relname, t.name) as name
    from (
      select 'foreignKeys' as kind, conrelid as relation, conname as name from pg_constraint where contype = 'f'
      union all
      select 'triggers', tgrelid, tgname from pg_trigger where not tgisinternal
    ) as t
    join pg_class as c on c.oid = t.relation
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname in ('svc', 'iam')`;
  const named = (wanted: string) => rows.flatMap(({ kind, name }) => (kind === wanted ? [name] : [])).sort();
  const { foreignKeys, triggers } = await readConstraints();
  expect([foreignKeys.sort(), triggers.sort()]).toEqual([named("foreignKeys"), named("triggers")]);
});

it.each(["doctor", "plans list", "plans show standard", "users list", "tokens list --organization acme"])(
  "svc-server %s migrates no database",
  async (command) => {
    const empty = await createEmptyDatabase();
    onTestFinished(() => empty.drop());
    const line =
      "the database is not migrated to this version yet, or something of it was dropped; run `svc-server migrate` first";
    expect(await runServer(empty.url, command.split(" "))).toEqual(refused(line));
    expect(await empty.sql`select from pg_namespace where nspname = 'svc'`).toHaveLength(0);
  },
);

describe("svc-server doctor, pointed at the wrong thing,", () => {
  it("creates no database in a data directory without one", async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const dataDir = path.join(directory, "elsewhere");
    const line = `there is no database in ${dataDir}; set SVC_DATA_DIR to the data directory of the service, or DATABASE_URL to its database`;
    expect(await runServer(undefined, ["doctor"], { SVC_DATA_DIR: dataDir })).toEqual(refused(line));
    expect(await readdir(directory)).toEqual([]);
  });

  it("says that a program older than the database does not check its indexes, foreign keys and triggers", async () => {
    const { sql } = fixture.service.db;
    await sql`insert into graphile_migrate.migrations (hash, previous_hash, filename) values ('sha1:999', null, '999999.sql')`;
    const { stdout } = await doctor();
    await sql`delete from graphile_migrate.migrations where filename = '999999.sql'`;
    expect(stdout).toContain(
      "\nlast migration: 999999.sql, newer than this program, which did not check indexes, foreign keys and triggers\n",
    );
  });

  it("does not advise giving the database to a read-only user", async () => {
    const { sql, url } = fixture.service.db;
    const user = `svc_test_reader_${randomBytes(4).toString("hex")}`;
    await sql.unsafe(`create role ${user} login password 'x' in role svc_reader`);
    onTestFinished(() => sql.unsafe(`drop role ${user}`).then(() => undefined));
    const asReader = Object.assign(new URL(url), { username: user, password: "x" });
    const line = `the user ${user} may not read the service's tables (permission denied for schema svc_api); name the user that migrates the database in DATABASE_URL`;
    expect(await doctor(asReader.href)).toEqual(refused(line));
  });
});

it("a report shows a few examples and the number of further ones", () => {
  const report = {
    ...{ checks: 34, migration: "000002.sql", workersAlive: 2, pendingOperations: 0, pendingSince: null },
    ...{ setAsideCustomers: 0, disabledWebhooks: 1, failingWebhooks: 0, frozenEnvironments: 0, isNewer: false },
    violations: [
      {
        ...{ invariant: "organizations_have_an_owner", holds: "Every organization has an owner.", advice: "Make one." },
        ...{ organization: null, project: null, environment: null },
        ...{ violations: 7, examples: ["the organization a", "the organization b"] },
      },
    ],
  };
  expect(examinationReport(report, 61_234)).toMatch(
    /^organizations_have_an_owner\n.*\n {2}- the organization a\n {2}- the organization b\n {2}- and 5 more\n.*\n\n1 of 34 checks found something, in 61\.2 s\./,
  );
});
