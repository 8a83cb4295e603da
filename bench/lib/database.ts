import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sql } from "postgres";
import type { AdminCredentials } from "../../src/db/api/access.js";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { startEmbedded } from "../../src/db/embedded/embedded.js";
import { migrate } from "../../src/db/migrate/migrate.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { newSecret, sealingKey, sealSecret } from "../../src/webhooks/secret.js";
import { registerCleanup } from "./cleanup.js";
import { SNAPSHOT } from "./events.js";

export interface BenchServer {
  /** Version and settings, for the tables. */
  settings: string;
  /** Creates a database for a subject, with a project, the benchmarks' model and no events. */
  createDatabase(): Promise<BenchDatabase>;
  close(): Promise<void>;
}

export interface BenchDatabase {
  url: string;
  /** Whether the service's processes act as the service's roles. */
  useRoles: boolean;
  sql: Sql;
  /** An ingestion key of the environment that the benchmarks fill, and its SHA-256. */
  key: string;
  keyHash: Buffer;
  environmentId: number;
  /** An access token of the owner, and its organization. */
  token: string;
  organizationId: string;
  /** Vacuums and analyses, so that all rounds begin alike; before round 0, which does not count, it also writes a checkpoint. */
  settle(round: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A new embedded server with the settings of `svc-server start` (fsync on), except for what would disturb rounds at random: autovacuum, whose
 * work `settle` does between them, and checkpoints, of which there are none in the rounds that count. So full pages are written to the
 * write-ahead log in the round that does not count, and neither side hides its cost behind them.
 */
export async function openBenchServer(): Promise<BenchServer> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "svc-bench-"));
  registerCleanup(() => rm(dataDir, { recursive: true, force: true }));
  await chmod(dataDir, 0o711); // as root, the server runs as another user
  const server = await startEmbedded(dataDir, {
    settings: { autovacuum: "off", max_wal_size: "8GB", checkpoint_timeout: "1h" },
  });
  const close = registerCleanup(() => server.stop());
  const { roles } = await migrate(server.url);
  const key = `svc_test_${randomBytes(20).toString("hex")}`;
  const template = connect(server.url, { max: 1, applicationName: "svc bench" });
  const { environmentId, token, organizationId } = await createProject(template, sha256(key), SNAPSHOT);
  const settings = await settingsOf(template);
  await template.end();

  let made = 0;
  return {
    settings,
    createDatabase: async () => {
      const name = `bench_${++made}`;
      const url = new URL(server.url);
      const templateName = url.pathname.slice(1);
      url.pathname = "/postgres";
      const admin = connect(url.href, { max: 1, applicationName: "svc bench", statementTimeoutMs: 0 });
      await admin.unsafe(`create database ${name} template ${templateName}`);
      url.pathname = `/${name}`;
      const sql = connect(url.href, { max: 4, applicationName: "svc bench", statementTimeoutMs: 0 });
      return {
        url: url.href,
        useRoles: roles,
        sql,
        key,
        keyHash: sha256(key),
        environmentId,
        token,
        organizationId,
        settle: async (round) => {
          await sql`vacuum (analyze)`;
          if (round === 0) await sql`checkpoint`;
        },
        close: registerCleanup(async () => {
          await sql.end({ timeout: 5 });
          await admin.unsafe(`drop database ${name} with (force)`);
          await admin.end({ timeout: 5 });
        }),
      };
    },
    close,
  };
}

/** Creates a project with a model and an ingestion key in its environment test. */
export async function createProject(
  sql: Sql,
  keyHash: Buffer,
  snapshot: Snapshot,
): Promise<{ environmentId: number; token: string; organizationId: string }> {
  const token = newCredential("token");
  const { organizationId } = JSON.parse(await call(sql, "bootstrap", "bench", "bench@example.com", token.hash)) as {
    organizationId: string;
  };
  // The rate limit must not apply, but its bookkeeping is measured.
  await sql`update iam.plans set rate_per_second = 100000000, rate_burst = 100000000`;
  const by = { tokenHash: token.hash, organizationId, requestId: "bench" };
  const environmentId = await addProject(sql, by, "bench", keyHash, snapshot);
  return { environmentId, token: token.text, organizationId };
}

/** Adds a project to an organization, with a model and an ingestion key in its environment test; returns the environment's id. */
export async function addProject(
  sql: Sql,
  by: AdminCredentials,
  slug: string,
  keyHash: Buffer,
  snapshot: Snapshot,
): Promise<number> {
  const keys = { test: { hash: keyHash, hint: "svc_test_" }, live: { hash: randomBytes(32), hint: "svc_live_" } };
  await call(sql, "create_project", by, { name: slug, slug }, keys);
  const at = { project: slug, environment: "test" as const };
  await call(sql, "deploy_config", by, at, {
    snapshot: canonicalJson(snapshot),
    hash: hashSnapshot(snapshot),
    provenance: null,
    expected: null,
    force: false,
  });
  const [environment] = await sql<[{ environment_id: number }]>`
    select environment_id from svc.api_keys where key_hash = ${keyHash}`;
  return environment.environment_id;
}

/** Creates a webhook for all emissions; `secret` is the SVC_SECRET of the worker. */
export async function createWebhook(sql: Sql, environmentId: number, url: string, secret: string): Promise<void> {
  await sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    values (${environmentId}, svc.random_id('whk_'), ${url}, array['*'], ${sealSecret(newSecret(), sealingKey(secret))})`;
}

async function settingsOf(sql: Sql): Promise<string> {
  const [server] = await sql<[{ version: string; settings: string }]>`
    select
      current_setting('server_version') as version,
      string_agg(format('%s %s', name, current_setting(name)), ', ' order by n) as settings
    from unnest(array['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size'])
      with ordinality as s (name, n)`;
  return `PostgreSQL ${server.version} (${server.settings}; vacuum (analyze) before each round, no checkpoint in one)`;
}

export function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
