import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { promisify } from "node:util";
import { chromium, type Browser } from "playwright-core";

/** Debian's. */
const EXECUTABLE = "/usr/bin/chromium";
const PACKAGES = ["chromium", "fonts-dejavu-core"];
/** Long enough for a slow mirror. */
export const INSTALL_MS_MAX = 600_000;

/** What the browser would ask of the network by itself, and what it cannot have as root or without a screen. */
const ARGUMENTS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser without a window; the reason in words where there is none. Installs Debian's where we may. */
export async function launchChromium(): Promise<Browser | string> {
  const missing = await install();
  return missing ?? chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}

/** Null once the browser is there, else why it is not. */
async function install(): Promise<string | null> {
  if (await exists(EXECUTABLE)) return null;
  if (process.getuid?.() !== 0 || !(await exists("/usr/bin/apt-get"))) {
    return `there is no ${EXECUTABLE}, and only root can install it, by apt-get`;
  }
  const options = { timeout: INSTALL_MS_MAX, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  try {
    await promisify(execFile)("apt-get", ["update", "-qq"], options);
    await promisify(execFile)("apt-get", ["install", "-qq", "--no-install-recommends", "-y", ...PACKAGES], options);
    return null;
  } catch (error) {
    return `apt-get could not install ${PACKAGES.join(" and ")}: ${(error as Error).message}`;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
