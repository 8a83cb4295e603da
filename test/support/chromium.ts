import { chromium, type Browser } from "playwright-core";
import { installed } from "./debian.js";

/** Debian's. */
const EXECUTABLE = "/usr/bin/chromium";
const PACKAGES = ["chromium", "fonts-dejavu-core"];

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
  const missing = await installed(EXECUTABLE, PACKAGES);
  return missing ?? chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}
