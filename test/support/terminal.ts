import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { vi } from "vitest";
import { installed } from "./debian.js";

const TMUX = "/usr/bin/tmux";
const run = promisify(execFile);

/** A shell in a real terminal, provided by tmux. */
export interface Terminal {
  /** Types a text literally. */
  type(text: string): Promise<unknown>;
  /** Presses a key, such as `Enter` or `C-c`. */
  press(key: string): Promise<unknown>;
  /** Resolves with the screen once it shows `what`, without trailing spaces and lines. */
  shows(what: string | RegExp): Promise<string>;
  /** Clears the screen; the shell must be waiting for a command. */
  clear(): Promise<void>;
  close(): Promise<unknown>;
}

export interface TerminalOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
}

/** Makes sure that tmux is installed; returns null, or the reason why it is not. */
export function terminalsMissing(): Promise<string | null> {
  return installed(TMUX, ["tmux"]);
}

/** Opens a terminal with a shell whose prompt is `$ `, on a separate tmux server. */
export async function openTerminal({ cwd, env, columns = 80, rows = 40 }: TerminalOptions): Promise<Terminal> {
  const socket = `svc-test-${randomUUID()}`;
  const tmux = async (...argv: string[]) =>
    (await run(TMUX, ["-L", socket, "-f", "/dev/null", ...argv], { cwd })).stdout;
  const variables = Object.entries({ ...env, PS1: "$ ", TERM: "tmux-256color" }).map(
    ([name, value]) => `${name}=${value}`,
  );
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "env", "-i", ...variables, "sh", "-i");
  const screen = async (): Promise<string> => (await tmux("capture-pane", "-p", "-J")).replace(/[ \n]+$/, "");
  const shows = (what: string | RegExp): Promise<string> =>
    vi.waitFor(
      async () => {
        const text = await screen();
        if (typeof what === "string" ? text.includes(what) : what.test(text)) return text;
        throw new Error(`the terminal does not show ${String(what)}, but:\n${text}`);
      },
      { timeout: 30_000, interval: 50 },
    );
  await shows("$");
  return {
    shows,
    type: (text) => tmux("send-keys", "-l", text),
    press: (key) => tmux("send-keys", key),
    clear: async () => {
      await tmux("send-keys", "-l", "printf '\\033[2J\\033[H'");
      await tmux("send-keys", "Enter");
      await shows(/^\$$/);
    },
    close: () => tmux("kill-server"),
  };
}
