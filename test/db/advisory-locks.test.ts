import { randomUUID } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { hashCredential } from "../../src/http/request/credentials.js";
import { useIngest } from "../http/ingest/fixture.js";
import { environmentId, numberFromOne } from "../support/service.js";

// Every login of a database can take every advisory lock in it, so none must be able to block ingestion or its followers.

const event = { customerId: "globex", event: "login" };
const fixture = await useIngest();
const { sql } = fixture.service.db;
const environment = await environmentId(sql, "app", "test");
await numberFromOne(sql, environment);
await fixture.single(event);
/** A reader of the views who holds locks. */
const user = `${fixture.service.db.name}_holder`;
await sql.unsafe(`create role ${user} login password 'reader' in role svc_reader`);
const url = Object.assign(new URL(fixture.service.db.url), { username: user, password: "reader" });
const reader = connect(url.href, { max: 1, applicationName: "svc test reader" });
afterEach(() => reader`select pg_advisory_unlock_all()`);
afterAll(async () => {
  await reader.end();
  await sql.unsafe(`drop role ${user}`);
});

const lastBatch = async () => {
  const [row] = await sql<[{ last: number }]>`
    select pg_sequence_last_value(svc.batch_seq(${environment}))::integer as last`;
  return row.last;
};

describe("while a reader of the views holds", () => {
  it("the locks that mark calls in progress, events are accepted, and followers see them", async () => {
    const last = await lastBatch();
    await reader`select pg_advisory_lock(-${environment}::integer, n) from generate_series(${last}::integer, ${last + 500}::integer) as n`;
    for (let n = 0; n < 5; n++) expect((await fixture.single(event)).status).toBe(202);
    expect((await fixture.batch([event, event])).status).toBe(202);
    const [accepted] = await sql<[{ through: string }]>`select svc.accepted_through(${environment}) as through`;
    const later = await sql`
      select from svc.events where environment_id = ${environment} and event_seq > ${accepted.through}::bigint`;
    expect(later).toHaveLength(0);
  });

  it("a lock that marks a call, it counts only for a login that can ingest, even if only by SET ROLE", async () => {
    const settled = async () => {
      const [row] = await sql<[{ through: number }]>`select svc.accepted_through(${environment})::integer as through`;
      return row.through;
    };
    const through = (await lastBatch()) * 1024 + 1023;
    await reader`select pg_advisory_lock_shared(-${environment}::integer, 0)`;
    expect(await settled()).toBe(through);
    await sql.unsafe(`alter role ${user} noinherit; grant svc_http to ${user}`);
    expect(await settled()).toBe(1023);
    await sql.unsafe(`revoke svc_http from ${user}; alter role ${user} inherit`);
    expect(await settled()).toBe(through);
  });

  it("the lock of a version, events that violate its schema are accepted and counted", async () => {
    await fixture.deploy({ events: { login: { properties: { seats: { type: "number" } } } } });
    await reader`
      select pg_advisory_lock(${environment}::integer, v.version)
      from generate_series(1, 3) as v (version)`;
    expect((await fixture.single({ ...event, properties: { seats: "five" } })).status).toBe(202);
    expect((await fixture.stored()).violations).toBe(1);
  });

  it("the lock of a call, its first try is accepted, and its repetition answered like the first", async () => {
    const batchId = randomUUID();
    await reader`select pg_advisory_lock(uuid_hash_extended(${batchId}::uuid, 0))`;
    const ingest = async (repeated: boolean) => {
      const [row] = await sql<[{ answer: unknown }]>`
        select svc_api.ingest(
          ${hashCredential(fixture.keys.test)}, ${batchId}, ${JSON.stringify({ events: [event] })}, false, ${repeated}
        ) as answer`;
      return row.answer as { seqs?: unknown };
    };
    const before = await fixture.stored();
    const first = await ingest(false);
    const repeated = await ingest(true);
    expect(repeated.seqs).toEqual(first.seqs);
    expect((await fixture.stored()).events).toBe(before.events + 1);
    const [row] = await sql`select current_setting('lock_timeout') as patience`;
    expect(row).not.toEqual({ patience: "3s" });
  });
});

it("while a reader of the views holds all predictable locks, recomputes and previews run, one at a time per queue", async () => {
  const { owner, service } = fixture;
  await fixture.deploy({ events: { login: { properties: { visits: { type: "number" } } } } });
  const body = { by: owner, body: { customerId: "globex" } };
  for (let n = 0; n < 2; n++)
    expect((await service.request("POST", "/projects/app/recomputes?env=test", body)).status).toBe(202);
  await reader`
    select pg_advisory_lock(l.class, n) from (values (7501), (7502)) as l (class), generate_series(1, ${environment}::integer) as n`;
  const [first, second] = [1, 2].map(() => connect(service.db.url, { max: 1, applicationName: "svc test worker" }));
  try {
    const job = await call(first!, "claim_job", 10);
    expect(job).toMatchObject({ environmentId: environment, attempt: 1 });
    const [lock] = await sql<[{ key: number }]>`select holder_key as key from svc.recomputes where status = 'running'`;
    expect(await call(second!, "claim_job", 10)).toBeNull();
    await first!.end();
    // Another session can hold the key once it is known.
    await reader`select pg_advisory_lock(7501, ${lock.key}::integer)`;
    expect(await call(second!, "claim_job", 10)).toMatchObject({ recomputeId: job!.recomputeId, attempt: 2 });
  } finally {
    await Promise.all([first!.end(), second!.end()]);
  }
});
