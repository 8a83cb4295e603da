import type { Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/db/connect.js";
import { createDatabase, type TestDatabase } from "../support/database.js";

const ROLES = ["svc_http", "svc_worker", "svc_reader"] as const;
type Role = (typeof ROLES)[number];

let database: TestDatabase;
const sessions = new Map<Role, Sql>();

beforeAll(async () => {
  database = await createDatabase();
  for (const role of ROLES) {
    sessions.set(role, connect(database.url, { max: 1, applicationName: "svc role test", role }));
  }
});

afterAll(async () => {
  for (const sql of sessions.values()) await sql.end();
  await database.drop();
});

function as(role: Role): Sql {
  const sql = sessions.get(role);
  if (!sql) throw new Error(`no session of ${role}`);
  return sql;
}

/** The SQLSTATE that a statement fails with; null where it succeeds. */
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

describe.each(ROLES)("%s", (role) => {
  it("cannot read or write any table", async () => {
    const tables = await relations(["iam", "svc"], "r");
    expect(tables.length).toBeGreaterThan(15);
    for (const table of tables) {
      expect([table, await failureOf(as(role), `select from ${table}`)]).toEqual([table, "42501"]);
      expect([table, await failureOf(as(role), `delete from ${table}`)]).toEqual([table, "42501"]);
    }
  });

  it("cannot create anything", async () => {
    for (const schema of ["iam", "svc", "svc_api", "svc_inspect"]) {
      expect(await failureOf(as(role), `create table ${schema}.mine (id integer)`)).toBe("42501");
    }
  });

  it("may execute no function of iam", async () => {
    const rows = await database.sql<{ name: string }[]>`
      select p.oid::regprocedure::text as name
      from pg_proc as p
      where p.pronamespace = 'iam'::regnamespace and has_function_privilege(${role}, p.oid, 'execute')`;
    expect(rows.map(({ name }) => name)).toEqual([]);
  });
});

describe("functions of svc_api", () => {
  it("are each granted to the processes that need them, and the operator's to none", async () => {
    const rows = await database.sql<{ name: string; roles: string[] }[]>`
      select
        p.proname::text as name,
        array(select r::text from unnest(${[...ROLES]}::text[]) as r where has_function_privilege(r, p.oid, 'execute')) as roles
      from pg_proc as p
      where p.pronamespace = 'svc_api'::regnamespace
      order by 1`;
    const byRole = (role: Role) => rows.filter(({ roles }) => roles.includes(role)).map(({ name }) => name);
    expect(byRole("svc_worker")).toEqual([
      "append_recompute_logs",
      "apply_evaluation",
      "apply_recompute",
      "apply_recomputes",
      "begin_evaluation",
      "claim_deliveries",
      "claim_recompute",
      "fail_recompute",
      "finish_recompute",
      "leave_recompute",
      "load_history",
      "load_history_pages",
      "load_snapshot",
      "lock_customer",
      "read_recompute_chunk",
      "read_recompute_events",
      "read_recompute_executions",
      "record_attempts",
      "record_recompute_chunk",
      "release_webhooks",
      "set_aside_customer",
      "sweep_iam",
      "sweep_recomputes",
      "sweep_webhooks",
      "tick",
      "touch_recompute",
    ]);
    expect(byRole("svc_http")).not.toContain("apply_evaluation");
    expect(byRole("svc_http")).toContain("ingest");
    expect(byRole("svc_reader")).toEqual([]);
    expect(rows.filter(({ roles }) => roles.length === 0).map(({ name }) => name)).toEqual([
      "bootstrap",
      "operator_create_password_link",
      "operator_create_token",
      "operator_list_tokens",
      "operator_list_users",
      "operator_revoke_token",
    ]);
  });

  it("answer to svc_http and refuse svc_reader", async () => {
    const statement = "select svc_api.unready_reasons()";
    expect(await failureOf(as("svc_http"), statement)).toBeNull();
    expect(await failureOf(as("svc_reader"), statement)).toBe("42501");
  });
});

describe("views of svc_inspect", () => {
  it("can all be read by svc_reader, and by no process", async () => {
    const views = await relations(["svc_inspect"], "v");
    expect(views.length).toBeGreaterThan(5);
    for (const view of views) {
      expect([view, await failureOf(as("svc_reader"), `select * from ${view}`)]).toEqual([view, null]);
      expect([view, await failureOf(as("svc_http"), `select * from ${view}`)]).toEqual([view, "42501"]);
    }
  });
});
