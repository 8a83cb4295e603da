import { inject } from "vitest";
import { connect } from "../../../src/db/connect.js";
import type { TestDatabase } from "../../support/database.js";
import type { Reply } from "../../support/service.js";

/** Sends a request and reads the answer. */
export async function readReply(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

/** Sends a request while the database accepts no connections: existing ones are closed, and new ones refused. */
export async function withoutDatabase<T>(db: TestDatabase, ask: () => Promise<T>): Promise<T> {
  const administration = connect(inject("database").url, { max: 1, applicationName: "svc test administration" });
  try {
    await administration.unsafe(`alter database ${db.name} allow_connections false`);
    await administration`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${db.name}`;
    return await ask();
  } finally {
    await administration.unsafe(`alter database ${db.name} allow_connections true`);
    await administration.end();
  }
}
