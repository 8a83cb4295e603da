import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { sweepIam } from "../../src/db/calls-sign-in.js";
import { connect } from "../../src/db/connect.js";
import { startWorker } from "../../src/tasks/worker.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { Models } from "../../src/evaluation/models.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
  await db.sql`insert into iam.users (user_id, email) values ('usr_1', 'ada@example.com')`;
  await db.sql`insert into iam.organizations (organization_id, slug) values ('org_1', 'acme')`;
});
beforeEach(async () => {
  await db.sql`
    truncate iam.sessions, iam.device_authorizations, iam.invitations, iam.password_links, iam.access_tokens, iam.throttles`;
});
afterAll(() => db.drop());

const hash = (text: string) => Buffer.from(text);

/** Adds rows that differ in when they ended, in seconds from now, and answers which are there after a sweep. */
const KINDS = {
  "a session": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.sessions (session_hash, user_id, expires_at)
      values (${hash(name)}, 'usr_1', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select session_hash as name from iam.sessions order by 1`,
    keptSeconds: 0,
  },
  "a device authorization": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.device_authorizations (device_code_hash, user_code, client_id, address, created_at, expires_at, interval_seconds)
      values (${hash(name)}, ${name}, 'svc-cli', '192.0.2.1', now(), now() + ${ended} * interval '1 second', 5)`,
    left: () => db.sql<{ name: Buffer }[]>`select device_code_hash as name from iam.device_authorizations order by 1`,
    keptSeconds: 3_600,
  },
  "an invitation": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.invitations (organization_id, invitation_id, link_hash, email, role, created_by, expires_at)
      values ('org_1', ${name}, ${hash(name)}, ${`${name}@example.com`}, 'viewer', 'operator', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select link_hash as name from iam.invitations order by 1`,
    keptSeconds: 30 * 86_400,
  },
  "a password link": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.password_links (link_hash, user_id, created_by, expires_at)
      values (${hash(name)}, 'usr_1', 'operator', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select link_hash as name from iam.password_links order by 1`,
    keptSeconds: 30 * 86_400,
  },
  "an access token that expired": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, expires_at)
      values (${hash(name)}, ${name}, 'session', 'usr_1', 'test', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select token_hash as name from iam.access_tokens order by 1`,
    keptSeconds: 90 * 86_400,
  },
  "a throttle that is full": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.throttles (bucket, full_at) values (${hash(name)}, now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select bucket as name from iam.throttles order by 1`,
    keptSeconds: 0,
  },
} as const;

describe("sweeping deletes", () => {
  it.each(Object.keys(KINDS) as (keyof typeof KINDS)[])("%s, when its time is over and no sooner", async (kind) => {
    const { add, left, keptSeconds } = KINDS[kind];
    await add("over", -keptSeconds - 60);
    await add("kept", -keptSeconds + 60);
    expect(await sweepIam(db.sql)).toBe(1);
    expect((await left()).map(({ name }) => String(name))).toEqual(["kept"]);
    expect(await sweepIam(db.sql)).toBe(0);
  });

  it("nothing that somebody else is changing, and waits for nobody", async () => {
    await KINDS["a session"].add("over", -60);
    await db.sql.begin(async (tx) => {
      await tx`select from iam.sessions for update`;
      expect(await sweepIam(db.sql)).toBe(0);
    });
    expect(await sweepIam(db.sql)).toBe(1);
  });
});

it("a worker sweeps every ten minutes, as its role", async () => {
  await KINDS["a session"].add("over", -60);
  await KINDS["a session"].add("kept", 60);
  const sql = connect(db.url, { max: 4, applicationName: "svc test worker", role: "svc_worker" });
  const worker = await startWorker({
    databaseUrl: db.url,
    useRoles: true,
    sql,
    settleSeconds: 30,
    attemptDays: 30,
    models: new Models(),
    onRecompute: () => undefined,
    concurrency: 1,
    logger: pino({ level: "silent" }),
    onStalled: () => undefined,
  });
  try {
    await vi.waitFor(
      async () =>
        expect(await db.sql`select identifier from graphile_worker._private_known_crontabs order by 1`).toEqual([
          { identifier: "sweep_iam" },
          { identifier: "sweep_webhooks" },
        ]),
      { timeout: 10_000 },
    );
    // Not to wait for the ten minutes.
    await db.sql`select graphile_worker.add_job('sweep_iam')`;
    await vi.waitFor(
      async () => expect((await KINDS["a session"].left()).map(({ name }) => String(name))).toEqual(["kept"]),
      { timeout: 10_000 },
    );
  } finally {
    await worker.stop();
    await sql.end();
  }
});
