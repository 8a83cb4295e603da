import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { promisify } from "node:util";

/** Long enough for a slow mirror. */
export const INSTALL_MS_MAX = 600_000;

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
    await promisify(execFile)("apt-get", ["update", "-qq"], options);
    await promisify(execFile)("apt-get", ["install", "-qq", "--no-install-recommends", "-y", ...packages], options);
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
