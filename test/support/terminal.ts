import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { vi } from "vitest";
import { installed } from "./debian.js";

const TMUX = "/usr/bin/tmux";
const run = promisify(execFile);

/** A shell in a real terminal, which tmux draws. */
export interface Terminal {
  /** Types a text, as it is. */
  type(text: string): Promise<unknown>;
  /** Presses a key, such as `Enter` or `C-c`. */
  press(key: string): Promise<unknown>;
  /** Resolves with the screen once it shows that; each line without the spaces at its end. */
  shows(what: string | RegExp): Promise<string>;
  /** Clears the screen; the shell has to wait for a command. */
  clear(): Promise<void>;
  close(): Promise<unknown>;
}

export interface TerminalOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  columns?: number;
  rows?: number;
}

/** Null where there are terminals, else why there are none. */
export function terminalsMissing(): Promise<string | null> {
  return installed(TMUX, ["tmux"]);
}

/** Opens a terminal with a shell whose prompt is `$ `, on a server of its own. */
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
