import type { Io } from "../output/out.js";

/** Whether the user would see a browser opened here: there is a screen, and the session is not remote. */
export function hasBrowser({ env, stderr }: Io): boolean {
  const isSet = (name: string) => (env[name] ?? "") !== "";
  if (stderr.isTTY !== true || isSet("SSH_CONNECTION")) return false;
  if (process.platform === "darwin" || process.platform === "win32") return true;
  return ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some(isSet);
}

/** Opens an address in the user's browser; returns whether something was started. It is not known whether it shows the page. */
export async function openBrowser(address: string): Promise<boolean> {
  // The same system command also opens programs and files.
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return false;
  try {
    const { default: open } = await import("open");
    const started = await open(address);
    started.on("error", () => undefined);
    return true;
  } catch {
    // The address is printed too, and can be opened by hand.
    return false;
  }
}
