import { randomBytes } from "node:crypto";
import type { Sql, TransactionSql } from "postgres";
import { afterAll, inject } from "vitest";
import { connect } from "../../src/db/connect.js";
import { onEachNode, withDatabase } from "./citus.js";

/** A database of a single test file. */
export interface TestDatabase {
  url: string;
  name: string;
  /** A pool as the migrating user, who may do everything. */
  sql: Sql;
  /** Ends the pool and drops the database, even if others are connected. */
  drop(): Promise<void>;
}

/** Sets defaults that a DBA may have chosen for older applications: other formats of values, and of strings in functions, than PostgreSQL's. */
export async function setUnusualDefaults({ sql, name }: TestDatabase): Promise<void> {
  const [server] = await sql<[{ version: number }]>`select current_setting('server_version_num')::int as version`;
  await sql.unsafe(
    Object.entries({
      array_nulls: "off",
      bytea_output: "escape",
      datestyle: "SQL, MDY",
      default_transaction_isolation: "serializable",
      extra_float_digits: "-10",
      idle_session_timeout: "1h",
      intervalstyle: "sql_standard",
      // PostgreSQL 19 knows no others.
      ...(server.version < 190_000 ? { standard_conforming_strings: "off" } : {}),
      timezone: "Asia/Kolkata",
      transform_null_equals: "on",
    })
      .map(([setting, value]) => `alter database ${name} set ${setting} = '${value}';`)
      .join("\n"),
  );
}

/** As `createDatabase`; dropped at the end of the file. */
export async function useDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  afterAll(() => database.drop());
  return database;
}

/** Clones the migrated template; `drop` it in `afterAll`. */
export function createDatabase(): Promise<TestDatabase> {
  return create(inject("database").template);
}

/** Creates an empty database, with these options of `create database`. */
export function createEmptyDatabase(options = ""): Promise<TestDatabase> {
  return create("template0", options);
}

async function create(template: string, options = ""): Promise<TestDatabase> {
  const { url: adminUrl, nodes, prefix } = inject("database");
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  // Copying files takes half as long as copying through the write-ahead log, although it waits for a checkpoint.
  await onEachNode(nodes, `create database ${name} encoding 'UTF8' template ${template} strategy file_copy ${options}`);
  const url = withDatabase(adminUrl, name);
  const sql = connect(url, { max: 8, applicationName: "svc test" });
  return {
    url,
    name,
    sql,
    drop: async () => {
      await sql.end({ timeout: 0 });
      await onEachNode(nodes, `drop database ${name} with (force)`);
    },
  };
}

const ROLL_BACK = new Error("rolled back");

/** Runs `work` in a transaction that is always rolled back, and returns what it returned. */
export async function rolledBack<T>(sql: Sql, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  let result: T | undefined;
  try {
    await sql.begin(async (tx) => {
      result = await work(tx);
      throw ROLL_BACK;
    });
  } catch (error) {
    if (error !== ROLL_BACK) throw error;
  }
  return result as T;
}
