import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/db/connect.js";
import { docBlocks } from "../support/doc-blocks.js";
import { useDatabase } from "../support/database.js";

// A reader looks for a session that another user left idle in a transaction.

const OPERATIONS = path.resolve(import.meta.dirname, "../../docs/operations");
const blocksOf = (file: string) => docBlocks(readFileSync(path.join(OPERATIONS, file), "utf8"));
const questionOf = (file: string) => blocksOf(file).find(({ code }) => code.includes("from pg_stat_activity"))!.code;
const grants = blocksOf("monitoring.md").find(({ code }) => code.startsWith("grant pg_read_all_stats"))!.code;

const db = await useDatabase();
const [ann, bob] = [`${db.name}_ann`, `${db.name}_bob`];
const as = (username: string, applicationName: string) =>
  connect(Object.assign(new URL(db.url), { username, password: "x" }).href, { max: 1, applicationName });
const reader = as(ann, "svc test reader");
const forgotten = as(bob, "svc test forgotten");

beforeAll(async () => {
  await db.sql.unsafe(`create role ${ann} login password 'x' in role svc_reader`);
  await db.sql.unsafe(`create role ${bob} login password 'x'`);
  await forgotten`begin`;
  await forgotten`select 'what was forgotten'`;
});
afterAll(async () => {
  await Promise.all([reader.end(), forgotten.end({ timeout: 1 })]);
  await db.sql.unsafe(`drop role ${ann}, ${bob}`);
});

interface Session {
  pid: number;
  application_name: string;
  state: string | null;
  xact_start: Date | null;
  query: string;
}

async function found(file: string): Promise<Session> {
  const rows = await reader.unsafe<Session[]>(questionOf(file));
  const sessions = rows.filter(({ application_name: name }) => name === "svc test forgotten");
  expect(sessions).toHaveLength(1);
  return sessions[0]!;
}

describe.each(["monitoring.md", "upgrade.md"])("the sessions of %s", (file) => {
  it("are listed for a reader, with a note that their statements are hidden", async () => {
    expect(await found(file)).toMatchObject({ state: null, xact_start: null, query: "<insufficient privilege>" });
  });
});

it("a user with the grants of monitoring.md sees them, and can end them", async () => {
  const { pid } = await found("monitoring.md");
  await expect(reader`select pg_terminate_backend(${pid}::integer)`).rejects.toMatchObject({ code: "42501" });
  await db.sql.unsafe(grants.replaceAll(/\bann\b/g, ann));
  for (const file of ["monitoring.md", "upgrade.md"]) {
    expect(await found(file)).toMatchObject({
      state: "idle in transaction",
      xact_start: expect.any(Date),
      query: expect.stringContaining("what was forgotten"),
    });
  }
  expect(await reader`select pg_terminate_backend(${pid}::integer, 10000) as ended`).toEqual([{ ended: true }]);
});
