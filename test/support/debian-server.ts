import { randomBytes } from "node:crypto";
import { appendFile, chown, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { serverAccount } from "../../src/db/embedded/account.js";
import { CLUSTER_SETTINGS, SUPERUSER, type Cluster } from "../../src/db/embedded/cluster.js";
import { runCommand } from "../../src/db/embedded/command.js";
import { findPostmaster, halt, launch } from "../../src/db/embedded/postmaster.js";
import { installed } from "./debian.js";
import { temporaryDirectory, TEST_SETTINGS, type TestServer } from "./server.js";

/** The programs of the package `postgresql-15`; the oldest PostgreSQL that the service supports. */
export const DEBIAN_PROGRAMS = "/usr/lib/postgresql/15/bin";

/**
 * A server of Debian's PostgreSQL 15 with the settings of the tests and others, removed when stopped. Returns the reason if it is missing and
 * cannot be installed.
 */
export async function startDebianServer(settings: Record<string, string> = {}): Promise<TestServer | string> {
  const missing = await installed(`${DEBIAN_PROGRAMS}/postgres`, ["postgresql-15"]);
  if (missing !== null) return missing;
  const directory = await temporaryDirectory();
  const cluster = await createCluster(directory, settings);
  await launch(cluster);
  const port = (await findPostmaster(cluster))?.port;
  return {
    url: `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await halt(cluster);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Creates the same as src/db/embedded, with an initdb that has no options for settings or PostgreSQL's builtin locales. */
async function createCluster(directory: string, others: Record<string, string>): Promise<Cluster> {
  const account = await serverAccount();
  const home = path.join(directory, "postgres");
  const cluster: Cluster = {
    home,
    data: path.join(home, "data"),
    log: path.join(home, "server.log"),
    password: randomBytes(24).toString("hex"),
    account,
    binaries: { initdb: `${DEBIAN_PROGRAMS}/initdb`, pgCtl: `${DEBIAN_PROGRAMS}/pg_ctl`, major: "15" },
  };
  const passwordFile = path.join(home, "password");
  await mkdir(home, { mode: 0o700 });
  await writeFile(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
  if (account !== null) for (const owned of [passwordFile, home]) await chown(owned, account.uid, account.gid);
  const options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions", "--no-sync"];
  await runCommand(
    cluster.binaries.initdb,
    [`--pgdata=${cluster.data}`, `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, ...options],
    account,
  );
  const settings = Object.entries({ ...CLUSTER_SETTINGS, ...TEST_SETTINGS, ...others });
  const lines = settings.map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(path.join(cluster.data, "postgresql.conf"), lines.join(""));
  return cluster;
}
