import { chromium, type Browser } from "playwright-core";
import { installed } from "./debian.js";

/** Path in Debian's package. */
const EXECUTABLE = "/usr/bin/chromium";
const PACKAGES = ["chromium", "fonts-dejavu-core"];

/** Turns off network requests of the browser itself, and what does not work as root or without a screen. */
const ARGUMENTS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Launches a headless browser, or returns the reason why there is none. Installs Debian's package if we may. */
export async function launchChromium(): Promise<Browser | string> {
  const missing = await installed(EXECUTABLE, PACKAGES);
  return missing ?? chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}
