import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** Long enough for a slow mirror. */
export const INSTALL_MS_MAX = 600_000;

/** One test file installs at a time: apt-get waits for another installation, but fails while other lists are downloaded. */
const LOCK = path.join(tmpdir(), "svc-test-apt-get.lock");

/** Without manual pages, whose index takes longer than many of the packages; waits while others install something. */
const OPTIONS = [
  ...["-qq", "--no-install-recommends", "-y"],
  ...["-o", "DPkg::Options::=--path-exclude=/usr/share/man/*"],
  ...["-o", `DPkg::Lock::Timeout=${INSTALL_MS_MAX / 1_000}`],
];

/** Downloading the lists takes as long as installing. Where there are none yet, or they are too old, the first attempt fails. */
const INSTALL = 'apt-get install "$@" || { apt-get update -qq && apt-get install "$@"; }';

/** Makes sure that programs, or folders, exist; returns null, or the reason why they do not. Installs Debian's packages if we may. */
export async function installed(
  needed: string | readonly string[],
  packages: readonly string[],
): Promise<string | null> {
  const files = [needed].flat();
  const present = await Promise.all(files.map(exists));
  const missing = files.find((_, index) => !present[index]);
  if (missing === undefined) return null;
  if (process.getuid?.() !== 0 || !(await exists("/usr/bin/apt-get"))) {
    return `${missing} does not exist, and only root can install it with apt-get`;
  }
  const options = { timeout: INSTALL_MS_MAX, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  try {
    await promisify(execFile)("flock", [LOCK, "sh", "-c", INSTALL, "sh", ...OPTIONS, ...packages], options);
    return null;
  } catch (error) {
    return `apt-get could not install ${packages.join(" and ")}: ${(error as Error).message}`;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
