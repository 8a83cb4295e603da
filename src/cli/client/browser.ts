import type { Io } from "../output/out.js";

/** Whether a browser that is opened here is seen by the person who waits: there is a screen, and it is that of this machine. */
export function hasBrowser({ env, stderr }: Io): boolean {
  const isSet = (name: string) => (env[name] ?? "") !== "";
  if (stderr.isTTY !== true || isSet("SSH_CONNECTION")) return false;
  if (process.platform === "darwin" || process.platform === "win32") return true;
  return ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some(isSet);
}

/** Opens an address in the user's browser; returns whether something was started. Whether it shows the page is not known. */
export async function openBrowser(address: string): Promise<boolean> {
  // Systems open by the same means programs and files.
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return false;
  try {
    const { default: open } = await import("open");
    const started = await open(address);
    started.on("error", () => undefined);
    return true;
  } catch {
    // The address is shown, too: it can be opened by hand.
    return false;
  }
}
