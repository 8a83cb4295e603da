import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import { startEmbedded } from "../../src/db/embedded.js";
import { migrate } from "../../src/db/migrate.js";
import { canonicalJson, hashSnapshot } from "../../src/snapshot/canonical.js";
import { SNAPSHOT } from "./events.js";

export interface BenchDatabase {
  url: string;
  sql: Sql;
  /** An ingestion key of the environment that the benchmarks fill, and its SHA-256. */
  key: string;
  keyHash: Buffer;
  environmentId: number;
  close(): Promise<void>;
}

/** A fresh embedded server with the settings that `svc-server start` gives it (fsync on), a project and the benchmarks' model. */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "svc-bench-"));
  await chmod(dataDir, 0o711); // as root, the server runs as another user
  const server = await startEmbedded(dataDir);
  await migrate(server.url);
  const sql = connect(server.url, { max: 8, applicationName: "svc bench", statementTimeoutMs: 0 });
  const key = `svc_test_${randomBytes(20).toString("hex")}`;
  const environmentId = await createProject(sql, sha256(key));
  return {
    url: server.url,
    sql,
    key,
    keyHash: sha256(key),
    environmentId,
    close: async () => {
      await sql.end({ timeout: 5 });
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function createProject(sql: Sql, keyHash: Buffer): Promise<number> {
  const token = randomBytes(32);
  const [bootstrap] = await sql<[{ result: { organizationId: string } }]>`
    select svc_api.bootstrap('bench', 'bench@example.com', ${token}) as result`;
  const { organizationId } = bootstrap.result;
  // The limit is not what is measured; its bookkeeping is.
  await sql`update iam.plans set rate_per_second = 100000000, rate_burst = 100000000`;
  await sql`
    select svc_api.create_project(
      ${token}, ${organizationId}, 'Bench', 'bench', ${keyHash}, 'svc_test_', ${randomBytes(32)}, 'svc_live_'
    )`;
  await sql`
    select svc_api.deploy_config(
      ${token}, ${organizationId}, 'bench', 'test', ${canonicalJson(SNAPSHOT)}, ${hashSnapshot(SNAPSHOT)}, null
    )`;
  const [environment] = await sql<[{ environment_id: number }]>`
    select environment_id from svc.api_keys where key_hash = ${keyHash}`;
  return environment.environment_id;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
