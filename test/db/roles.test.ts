import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";
import type { Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/db/connect.js";
import { ensureRoles } from "../../src/db/migrate/roles.js";
import { migrateUnreleased } from "../support/migrate.js";
import { createDatabase, useDatabase } from "../support/database.js";
import { docBlocks } from "../support/doc-blocks.js";
import { lockWaiter } from "../support/locks.js";
import { printTable } from "../support/table.js";

const ROLES = ["svc_http", "svc_worker", "svc_reader"] as const;
type Role = (typeof ROLES)[number];

/** Database objects, the role that tried them, and the outcome. */
const doors: string[][] = [];

const database = await useDatabase();
// A copy of a database has the privileges on the database itself from the start.
await migrateUnreleased(database.url);
afterAll(() =>
  printTable("The database, tried by logins that are members of a role", [["door", "as whom", "outcome"], ...doors]),
);

/** The SQLSTATE with which a statement fails; null if it succeeds. */
async function failureOf(sql: Sql, statement: string): Promise<string | null> {
  try {
    await sql.unsafe(statement);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function relations(schemas: string[], kind: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select format('%I.%I', c.relnamespace::regnamespace::text, c.relname) as name
    from pg_class as c
    where c.relnamespace = any(${schemas}::text[]::regnamespace[]) and c.relkind = ${kind}
    order by 1`;
  return rows.map(({ name }) => name);
}

it("each function of svc_api is granted to the processes that need it, and the operator's to none", async () => {
  const rows = await database.sql<{ name: string; roles: string[] }[]>`
    select
      p.proname::text as name,
      array(select r::text from unnest(${[...ROLES]}::text[]) as r where has_function_privilege(r, p.oid, 'execute')) as roles
    from pg_proc as p
    where p.pronamespace = 'svc_api'::regnamespace
    order by 1`;
  const byRole = (role: Role) => rows.filter(({ roles }) => roles.includes(role)).map(({ name }) => name);
  expect(byRole("svc_worker")).toEqual(
    (
      "add_worker_counters append_recompute_logs apply_evaluation apply_recompute apply_replay " +
      "apply_replays begin_chunk begin_trial begin_trial_chunk cancel_trial claim_deliveries claim_job " +
      "compare_replays continue_evaluation count_trends end_trial environments_to_count environments_to_sweep fail_recompute " +
      "finish_backtest finish_recompute heartbeat load_history load_history_pages load_snapshot lock_customer " +
      "read_backtest_chunk read_backtest_samples read_recompute_chunk read_recompute_events " +
      "read_recompute_executions record_attempts record_recompute_chunk record_trial recount_usage " +
      "release_recompute release_webhooks remove_worker request_due_evaluations set_aside_customer should_yield_job sign_off " +
      "suspect_environment sweep_iam sweep_keys sweep_logs sweep_operations sweep_quarantine sweep_recomputes " +
      "sweep_webhooks touch_recompute"
    ).split(" "),
  );
  expect(byRole("svc_http")).not.toContain("apply_evaluation");
  expect(byRole("svc_http")).toContain("ingest");
  expect(byRole("svc_reader")).toEqual([]);
  expect(rows.filter(({ roles }) => roles.length === 0).map(({ name }) => name)).toEqual(
    (
      "bootstrap operator_assign_plan operator_begin_export operator_begin_import operator_changes_under_way operator_check_constraints operator_check_indexes " +
      "operator_create_password_link operator_create_sign_in_link operator_create_token operator_delete_environment operator_examine operator_finish_import " +
      "operator_freeze_environment operator_get_plan operator_import_versions operator_list_plans operator_list_tokens " +
      "operator_list_users operator_lock_out_user operator_public_url operator_remove_plan operator_revoke_token operator_sealed_secrets operator_set_plan " +
      "operator_unfreeze_environment"
    ).split(" "),
  );
});

describe.each(ROLES)("a login that is a member of %s", (role) => {
  let sql: Sql;
  let user: string;
  beforeAll(async () => {
    user = `${database.name}_${role}`;
    await database.sql.unsafe(`create role ${user} login password 'member' in role ${role}`);
    const url = Object.assign(new URL(database.url), { username: user, password: "member" });
    sql = connect(url.href, { max: 1, applicationName: "svc role test" });
  });
  afterAll(async () => {
    await sql.end();
    await database.sql.unsafe(`drop role ${user}`);
  });

  /** The SQLSTATE of a statement that is rolled back; null if it succeeds. */
  async function tried(statement: string): Promise<string | null> {
    await sql.unsafe("begin");
    const failure = await failureOf(sql, statement);
    await sql.unsafe("rollback");
    return failure;
  }

  it("is a member of that role only", async () => {
    const [row] = await sql`
      select session_user::text as "user", array(
        select r.rolname::text from pg_roles as r where pg_has_role(r.oid, 'member') and r.rolname <> session_user
      ) as roles, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as mighty
      from pg_roles where rolname = session_user`;
    expect(row).toEqual({ user, roles: [role], mighty: false });
  });

  it("can run exactly the functions that are granted to the role", async () => {
    const functions = await database.sql<{ name: string; statement: string; granted: boolean }[]>`
      select
        format('%s.%s(%s)', p.pronamespace::regnamespace, p.proname, pg_get_function_identity_arguments(p.oid)) as name,
        format(
          '%s %I.%I(%s)', case p.prokind when 'p' then 'call' else 'select' end, p.pronamespace::regnamespace, p.proname,
          (
            select string_agg(format('null::%I.%I', t.typnamespace::regnamespace, t.typname), ', ' order by a.position)
            from unnest(p.proargtypes) with ordinality as a (type, position)
            join pg_type as t on t.oid = a.type
          )
        ) as statement,
        has_function_privilege(${role}, p.oid, 'execute') and has_schema_privilege(${role}, p.pronamespace, 'usage') as granted
      from pg_proc as p
      where p.pronamespace::regnamespace::text in ('iam', 'svc', 'svc_api', 'svc_inspect', 'graphile_worker')
        and p.prorettype <> 'trigger'::regtype
      order by 1`;
    expect(functions.length).toBeGreaterThan(200);
    const wrong: string[] = [];
    for (const { name, statement, granted } of functions) {
      if (((await tried(statement)) === "42501") === granted) wrong.push(`${name}: ${granted ? "refused" : "run"}`);
    }
    expect(wrong).toEqual([]);
    const open = functions.filter((each) => each.granted).length;
    doors.push(["functions", role, `${open} run, ${functions.length - open} refused`]);
    const schemas = { svc_http: ["svc_api"], svc_worker: ["graphile_worker", "svc_api"], svc_reader: ["svc_inspect"] };
    const granted = functions.filter((each) => each.granted).map(({ name }) => name.split(".")[0]!);
    expect([...new Set(granted)].sort()).toEqual(schemas[role]);
  });

  it.runIf(role === "svc_http")(
    "cannot have its own cursor read as one of an export, with the owner's rights",
    async () => {
      const read = "select svc_api.fetch_export('events', 1)";
      expect(await tried(`declare "export_events" cursor for select current_user::text as item; ${read}`)).toBe(
        "34000",
      );
    },
  );

  it("can neither read nor change a table, except the worker's queue", async () => {
    const columns = await database.sql<{ table: string; schema: string; column: string }[]>`
      select distinct on (c.oid) format('%I.%I', c.relnamespace::regnamespace, c.relname) as "table",
        c.relnamespace::regnamespace::text as schema, quote_ident(a.attname) as "column"
      from pg_class as c
      join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind in ('r', 'p')
        and c.relnamespace::regnamespace::text in ('iam', 'svc', 'graphile_worker', 'graphile_migrate')
      order by c.oid, a.attnum`;
    expect(columns.length).toBeGreaterThan(40);
    for (const { table, schema, column } of columns) {
      const isQueue = schema === "graphile_worker" && role === "svc_worker";
      for (const statement of [
        `select from ${table}`,
        `update ${table} set ${column} = default where false`,
        `delete from ${table} where false`,
        `insert into ${table} default values`,
      ]) {
        const failure = await tried(statement);
        if (isQueue) expect([statement, failure]).not.toEqual([statement, "42501"]);
        else expect([statement, failure]).toEqual([statement, "42501"]);
      }
      expect([table, await tried(`truncate ${table}`)]).toEqual([table, "42501"]);
    }
    const queue = role === "svc_worker" ? columns.filter(({ schema }) => schema === "graphile_worker").length : 0;
    const outcome = `${columns.length - queue} neither read nor changed`;
    doors.push(["tables", role, queue === 0 ? outcome : `${outcome}, ${queue} of the queue used`]);
  });

  it("can use no sequence, create nothing, and fill the disk neither with temporary tables nor large objects", async () => {
    const sequences = await relations(["iam", "svc"], "S");
    for (const statement of [
      ...sequences.map((sequence) => `select nextval('${sequence}')`),
      ...["iam", "svc", "svc_api", "svc_inspect"].map((schema) => `create table ${schema}.mine (id integer)`),
      "create temporary table mine as select 1",
      "select lo_creat(-1)",
      "select lo_create(0)",
      "select lo_from_bytea(0, 'x')",
      "select lo_import('/etc/hostname')",
    ]) {
      expect([statement, await tried(statement)]).toEqual([statement, "42501"]);
    }
    doors.push(["sequences", role, `${sequences.length} refused`]);
    doors.push(["temporary tables and large objects", role, "refused"]);
  });

  it("can read the views only as a reader, and change none", async () => {
    const views = await relations(["svc_inspect"], "v");
    doors.push(["views", role, `${views.length} ${role === "svc_reader" ? "read, none changed" : "refused"}`]);
    for (const view of views) {
      expect([view, await tried(`select * from ${view} limit 1`)]).toEqual([
        view,
        role === "svc_reader" ? null : "42501",
      ]);
      expect([view, await tried(`delete from ${view}`)]).not.toEqual([view, null]);
    }
  });
});

it("a start becomes a member of the roles also while one in another database of the server does", async () => {
  const { sql } = database;
  const user = `svc_starting_${randomBytes(4).toString("hex")}`;
  await sql.unsafe(`create role ${user} login createrole password 'x'`);
  onTestFinished(async () => {
    await sql.unsafe(`drop owned by ${user}; drop role ${user}`);
  });
  const [server] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`;
  // From 16 on the creator of a role may grant it, and is a member that cannot act as it.
  if (server.version >= 160_000)
    await sql.unsafe(`grant ${ROLES.join(", ")} to ${user} with admin true, inherit false, set false`);
  const url = Object.assign(new URL(database.url), { username: user, password: "x" }).href;
  const other = connect(url, { max: 1, applicationName: "svc test" });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // On 15 the second statement fails. From 16 on it waits, and fails only at an unlucky moment.
    const { roles } = await other.begin(async (tx) => {
      await tx`grant svc_http to current_user`;
      const ensured = ensureRoles(client);
      await lockWaiter(sql, "grant svc_http%");
      return { roles: ensured };
    });
    expect(await roles).toEqual({ present: true, usable: true, notes: [] });
  } finally {
    await client.end();
    await other.end();
  }
});

it("after the statements of docs/security.md a database lets in its own logins only", async () => {
  const other = await createDatabase();
  const [own, foreign] = [`${other.name}_own`, `${other.name}_foreign`];
  onTestFinished(async () => {
    await other.drop();
    await database.sql.unsafe(`drop role ${own}, ${foreign}`);
  });
  await database.sql.unsafe(`create role ${own} login password 'in' in role svc_reader;
    create role ${foreign} login password 'in' in role svc_reader`);
  const enter = async (user: string) => {
    const sql = connect(Object.assign(new URL(other.url), { username: user, password: "in" }).href, {
      max: 1,
      applicationName: "test",
    });
    const failure = await failureOf(sql, "select from svc_inspect.customers limit 1");
    await sql.end();
    return failure;
  };
  expect([await enter(own), await enter(foreign)]).toEqual([null, null]);
  const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
  const { code } = docBlocks(page).find(({ heldBy }) => heldBy.includes("test/db/roles.test.ts"))!;
  await other.sql.unsafe(
    code.replaceAll("database svc", `database ${other.name}`).replace("svc_web, ann", `${own}, svc_worker`),
  );
  expect([await enter(own), await enter(foreign)]).toEqual([null, "42501"]);
});
