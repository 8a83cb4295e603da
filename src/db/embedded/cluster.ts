import { randomBytes } from "node:crypto";
import { chmod, chown, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { serverAccount } from "./account.js";
import { findBinaries, type Binaries } from "./binaries.js";
import { type Account, CommandError, makingFailure, runCommand, SetupError } from "./command.js";
import { createDirectory, flushDirectory, unlessMissing } from "./files.js";

/** The superuser of an embedded cluster, and the service's database in it. */
export const SUPERUSER = "svc";
export const DATABASE = "svc";

/**
 * A database cluster on disk. `home` is `<data directory>/postgres`, which holds `data` (PGDATA), `password` and `server.log`;
 * it belongs to `account` and is closed to everybody else.
 */
export interface Cluster {
  home: string;
  data: string;
  log: string;
  password: string;
  account: Account | null;
  binaries: Binaries;
}

export interface ClusterOptions {
  /** Server settings written to postgresql.conf when the cluster is created; they take precedence over ours. */
  settings?: Record<string, string>;
  /** False skips the flush to disk after initdb. Only for data that may be lost, such as a test's. */
  sync?: boolean;
  /** False: fail if the data directory has no cluster, instead of creating one. */
  make?: boolean;
  /** Called when there is nothing to do but wait for `initdb` or the server: time for other work. */
  onWait?: () => void;
  /** Called with the data directory in which a cluster was created. */
  onMade?: (directory: string) => void;
}

/**
 * Settings for a small machine. They are written to postgresql.conf, so an operator can change them there or with `alter system`.
 * The shared memory for parallel queries is allocated at the start, because containers often have a /dev/shm of only 64 MB.
 */
export const CLUSTER_SETTINGS: Record<string, string> = {
  shared_buffers: "256MB",
  max_connections: "100",
  work_mem: "8MB",
  maintenance_work_mem: "64MB",
  min_dynamic_shared_memory: "64MB",
  min_wal_size: "128MB",
  max_wal_size: "1GB",
  checkpoint_timeout: "15min",
  random_page_cost: "1.1",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "%m [%p] %a ",
  // Refusals by our functions are errors for the server too: their statements and details would fill its log, and keep ids of erased customers.
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
};

/**
 * Opens the cluster in `dataDir`, creating it if there is none. `initdb` works in a separate directory that is renamed when complete: if
 * killed halfway it leaves nothing that looks like a cluster, and of two processes that create one at once the second finds the first
 * one's. Throws an error that names SVC_DATA_DIR if the directory cannot be used, or has no cluster and `make` is false.
 */
export async function openCluster(dataDir: string, options: ClusterOptions): Promise<Cluster> {
  const directory = path.resolve(dataDir);
  // PostgreSQL's own program passes it through a shell.
  if (/["$`\n]/.test(directory))
    throw new SetupError(
      `the data directory ${JSON.stringify(directory)} has one of the characters " $ \` or a line break in its name; set SVC_DATA_DIR to another one`,
    );
  const home = path.join(directory, "postgres");
  // Other problems of the directory are reported below.
  if (options.make === false && !(await isThere(home).catch(() => true))) {
    throw new SetupError(
      `there is no database in ${directory}; set SVC_DATA_DIR to the data directory of the service, or DATABASE_URL to its database`,
    );
  }
  const account = await serverAccount();
  await makeDataDirectory(directory, account);
  const binaries = await findBinaries(account);
  if (!(await isThere(home))) {
    await removeLeftovers(directory);
    await createCluster(directory, home, account, binaries, options);
    options.onMade?.(directory);
  }
  const data = path.join(home, "data");
  await checkVersion(data, binaries);
  const password = (await readOwned(path.join(home, "password"))).trim();
  return { home, data, log: path.join(home, "server.log"), password, account, binaries };
}

/** If we are root, PostgreSQL's account must be able to traverse the directory to its private one inside; otherwise only we have access. */
async function makeDataDirectory(directory: string, account: Account | null): Promise<void> {
  try {
    if (await createDirectory(directory)) await chmod(directory, account === null ? 0o700 : 0o711);
  } catch (error) {
    throw new SetupError(
      `cannot create the data directory ${directory} (${(error as Error).message}); set SVC_DATA_DIR to one that this user can write to`,
      { cause: error },
    );
  }
  if (account === null) return;
  try {
    await runCommand("/bin/sh", ["-c", 'cd "$1"', "sh", directory], account);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new SetupError(
      `PostgreSQL does not run as root, and the user ${account.name} cannot enter the data directory ${directory}; ` +
        `set SVC_DATA_DIR to a directory that is not below a closed one such as /root, for example /var/lib/svc`,
      { cause: error },
    );
  }
}

/** Removes what a killed `initdb` of ours left. Its creator's process id is in the name; a living one is still at work. */
async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(path.join(directory, name), { recursive: true, force: true });
  }
}

/**
 * The flush to disk stays on: it takes a tenth of a second, and without it a power cut soon after the first start could leave a cluster
 * that was renamed but is incomplete.
 */
async function createCluster(
  directory: string,
  home: string,
  account: Account | null,
  binaries: Binaries,
  options: ClusterOptions,
): Promise<void> {
  const fresh = await mkdtemp(path.join(directory, `postgres.new-${process.pid}-`)).catch((error: unknown) => {
    const failure = makingFailure(directory, error);
    if (failure !== error) throw failure;
    throw new SetupError(
      `cannot write to the data directory ${directory} (${(error as NodeJS.ErrnoException).code}); set SVC_DATA_DIR to one that this user can write to`,
      { cause: error },
    );
  });
  try {
    const passwordFile = path.join(fresh, "password");
    await writeFile(passwordFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
    if (account !== null) for (const owned of [passwordFile, fresh]) await chown(owned, account.uid, account.gid);
    const initialized = runCommand(binaries.initdb, initdbArguments(fresh, passwordFile, options), account);
    options.onWait?.();
    await initialized;
    await rename(fresh, home);
    await flushDirectory(directory);
  } catch (error) {
    if (!(await isThere(home))) throw makingFailure(directory, error); // otherwise another process was quicker, and its cluster is as good
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

function initdbArguments(fresh: string, passwordFile: string, options: ClusterOptions): string[] {
  const settings = Object.entries({ ...CLUSTER_SETTINGS, ...options.settings });
  return [
    `--pgdata=${path.join(fresh, "data")}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--locale=C.UTF-8",
    "--no-instructions",
    ...(options.sync === false ? ["--no-sync"] : []),
    ...settings.map(([name, value]) => `--set=${name}=${value}`),
  ];
}

async function checkVersion(data: string, binaries: Binaries): Promise<void> {
  const found = (await readOwned(path.join(data, "PG_VERSION"))).trim();
  if (found === binaries.major) return;
  throw new SetupError(
    `${data} was made by PostgreSQL ${found}, but this version brings ${binaries.major}; ` +
      `dump it with the old version and restore it into an empty SVC_DATA_DIR`,
  );
}

async function readOwned(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new SetupError(
      `cannot read ${file} (${(error as NodeJS.ErrnoException).code}); start as the user that made it, or set SVC_DATA_DIR to another directory`,
      { cause: error },
    );
  }
}

async function isThere(file: string): Promise<boolean> {
  return (await unlessMissing(stat(file), null)) !== null;
}

/** Whether a process with this id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
