import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Sql } from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/db/connect.js";
import { runBash } from "../support/bash.js";
import { DEBIAN_PROGRAMS, startDebianServer } from "../support/debian-server.js";
import { violations } from "../support/invariants.js";
import { migrateUnreleased } from "../support/migrate.js";
import { useDirectory } from "../support/directory.js";
import { endServer, type TestServer } from "../support/server.js";
import { startServiceProcess } from "../support/service-process.js";
import { customersTold, startReceiver } from "../webhooks/support/receiver.js";
import { dumpOf, RELEASES, type Known } from "./upgrade/fixture.js";
import { makeThisVersion } from "./upgrade/next-version.js";
import { allShown } from "./upgrade/surface.js";

// docs/operations/backup.md, and the logical replication of upgrade.md beside it, run literally: with Debian's PostgreSQL 15 from one server to
// another, and with the embedded one.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The blocks of commands of a guide, in order. */
const blocksOf = async (name: string): Promise<string[]> =>
  [
    ...(await readFile(path.join(ROOT, "docs/operations", name), "utf8")).matchAll(
      /<!-- test\/db\/backup\.test\.ts [^\n]*\n\n *```bash\n([\s\S]*?)```/g,
    ),
  ].map(([, text]) => text!.replaceAll(/^ {3}/gm, ""));
const blocks = await blocksOf("backup.md");
const [dump, roles, restore, skipNumbers, quiet, copy] = blocks as [string, string, string, string, string, string];
const steps = await blocksOf("upgrade.md");
const [copySchema, copyData, switchOver] = steps as [string, string, string];

const directory = await useDirectory();

/** Runs commands of the guide in the test's directory, with Debian's programs. */
const bash = (script: string, env: Record<string, string>) =>
  runBash(script, { ...env, PATH: `${DEBIAN_PROGRAMS}:${process.env["PATH"]}` }, directory);

function databaseOf(server: TestServer, name: string): string {
  return Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
}

describe("a dump of Debian's PostgreSQL 15", () => {
  const servers: TestServer[] = [];
  const pools: Sql[] = [];
  let skipped: string | null = null;
  let known: Known;
  let original: Sql;
  let env: { DATABASE_URL: string; SERVER_URL: string; OWNER: string; RESTORED_URL: string };

  beforeAll(async () => {
    for (let number = 0; number < 2; number++) {
      const server = await startDebianServer({ wal_level: "logical" });
      if (typeof server === "string") return void (skipped = server);
      servers.push(server);
    }
    const [old, fresh] = servers as [TestServer, TestServer];
    const owner = { username: "keeper", password: "of-the-restored" };
    env = {
      DATABASE_URL: databaseOf(old, "original"),
      SERVER_URL: fresh.url,
      OWNER: owner.username,
      RESTORED_URL: Object.assign(new URL(databaseOf(fresh, "svc")), owner).href,
    };
    await bash(`psql --quiet --command="create role $OWNER login password '${owner.password}'" "$SERVER_URL"`, env);
    await bash(`psql --quiet --command="create database original template template0" "${old.url}"; ${roles}`, {
      SERVER_URL: old.url,
      OWNER: new URL(old.url).username,
    });
    const release = await dumpOf(RELEASES.at(-1)!);
    ({ known } = release);
    await writeFile(path.join(directory, "release.sql"), release.sql);
    await bash('psql --quiet --output=/dev/null --set=ON_ERROR_STOP=1 --file=release.sql "$DATABASE_URL"', env);
    await migrateUnreleased(env.DATABASE_URL);
    original = pool(env.DATABASE_URL);
  });
  afterAll(async () => {
    await Promise.all(pools.map((sql) => sql.end()));
    for (const server of servers) await server.stop();
  });

  function pool(url: string): Sql {
    const sql = connect(url, { max: 2, applicationName: "svc test" });
    pools.push(sql);
    return sql;
  }

  beforeEach((context) => {
    if (skipped !== null) context.skip(skipped);
  });

  it("is restored on another server with all of its content, and the service continues with it", async () => {
    const before = await allShown(original);
    // As any login can, and of another login it would end the dump of an owner who is no superuser.
    await original`select lo_create(0)`;
    await bash(dump, env);
    await bash(roles, env);
    await bash(restore, env);
    const restored = pool(env.RESTORED_URL);
    expect(await allShown(restored)).toEqual(before);
    expect(await restored`select from pg_largeobject_metadata`).toHaveLength(0);

    await bash(skipNumbers, env);
    const receiver = await startReceiver();
    await restored`update svc.webhooks set url = ${receiver.url}, disabled_at = null, disabled_reason = null`;
    const service = await startServiceProcess(env.RESTORED_URL, {
      SVC_SECRET: known.secret,
      SVC_WEBHOOK_ALLOW_PRIVATE: "1",
      SVC_SETTLE_SECONDS: "0",
    });
    try {
      const send = async (body: object): Promise<{ eventId: string }> => {
        const headers = { Authorization: `Bearer ${known.keys.test}`, "Content-Type": "application/json" };
        const init = { method: "POST", headers, body: JSON.stringify(body) };
        const response = await fetch(`${service.url}/v1/events`, init);
        expect(response.status).toBe(202);
        return (await response.json()) as { eventId: string };
      };
      expect(await send(known.answered.request)).toMatchObject({ eventId: known.answered.eventId });
      const { eventId } = await send({ customerId: "restored", event: "signed_up", properties: { source: "partner" } });
      const [last] = await original`
        select svc.event_id((pg_sequence_last_value(svc.batch_seq(environment_id)) + 99999999) * 1024) as id
        from svc.environments where name = 'test'`;
      expect(eventId > (last!["id"] as string), "an id that nobody was given before").toBe(true);
      // Signed for its receiver by the secret that was sealed in the dump.
      const told = () => customersTold(receiver, known.webhook.secret);
      await expect.poll(told, { timeout: 40_000 }).toContain("restored");
    } finally {
      await service.stop();
      await receiver.close();
    }
  });

  it("moves to another server by logical replication while it changes, and numbers go on", async () => {
    const { SERVER_URL, OWNER, DATABASE_URL } = env;
    const [old, fresh] = servers as [TestServer, TestServer];
    const moving = {
      DATABASE_URL,
      NEW_URL: env.RESTORED_URL.replace(/svc$/, "moved"),
      OLD_ADMIN_URL: databaseOf(old, "original"),
      NEW_ADMIN_URL: databaseOf(fresh, "moved"),
    };
    await bash(roles.replace("create database svc", "create database moved"), { SERVER_URL, OWNER });
    await bash(copySchema, moving);
    await bash(copyData, moving);
    const [, , count] = copyData.trimEnd().split("\n") as [string, string, string];
    await expect.poll(() => bash(count, moving), { timeout: 40_000 }).toBe("0\n");
    await original`update svc.customers set traits = traits || '{"moved": true}'`;
    await bash(switchOver, moving);
    const moved = pool(moving.NEW_URL);
    expect(await allShown(moved)).toEqual(await allShown(original));
    expect(await violations(moved)).toEqual([]);
    const next = (sql: Sql) =>
      sql`select nextval(svc.batch_seq(e.environment_id)) from svc.environments as e order by 1`;
    expect(await next(moved)).toEqual(await next(original));
  });

  it("sends nothing when restored as a copy", async () => {
    const restored = pool(env.RESTORED_URL);
    await bash(quiet, env);
    expect(await restored`select from svc.webhooks where disabled_at is null`).toHaveLength(0);
  });
});

describe("the directory of an embedded database", () => {
  let root: string;
  beforeAll(async () => void (root = await makeThisVersion()));
  afterAll(async () => {
    for (const name of [".svc-data", "svc-data-backup"]) await endServer(path.join(directory, name));
    await rm(root, { recursive: true, force: true });
  });

  /** Starts the service on a data directory, and stops it once it listens. */
  async function serve(name: string): Promise<void> {
    const env = { SVC_DATA_DIR: path.join(directory, name), SVC_SECRET: "" };
    expect(await (await startServiceProcess("", env, { root })).end()).toBe(0);
  }

  it("is a backup if copied while the service is stopped", async () => {
    await chmod(directory, 0o711);
    await serve(".svc-data");
    await bash(copy, {});
    const secret = await readFile(path.join(directory, ".svc-data/secret"), "utf8");
    expect(await readFile(path.join(directory, "svc-data-backup/secret"), "utf8")).toBe(secret);
    await serve("svc-data-backup");
  });
});

it("the guides have exactly the tested commands", () => {
  expect(blocks).toHaveLength(6);
  expect(steps).toHaveLength(3);
});
