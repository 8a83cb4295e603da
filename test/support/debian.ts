import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { promisify } from "node:util";

/** Long enough for a slow mirror. */
export const INSTALL_MS_MAX = 600_000;

/** Without manual pages, whose index takes longer than many of the packages; waits while another test file installs something. */
const INSTALL = [
  ...["--no-install-recommends", "-y"],
  ...["-o", "DPkg::Options::=--path-exclude=/usr/share/man/*"],
  ...["-o", `DPkg::Lock::Timeout=${INSTALL_MS_MAX / 1_000}`],
];

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
  const install = () => aptGet("install", ...INSTALL, ...packages);
  try {
    // Downloading the lists takes as long as installing. Where there are none yet, or they are too old, the first attempt fails.
    await install().catch(() => aptGet("update").then(install));
    return null;
  } catch (error) {
    return `apt-get could not install ${packages.join(" and ")}: ${(error as Error).message}`;
  }
}

async function aptGet(command: string, ...args: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await promisify(execFile)("apt-get", [command, "-qq", ...args], { timeout: INSTALL_MS_MAX, env });
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
