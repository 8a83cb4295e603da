import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { vi } from "vitest";

/** Printed by the shell at the end of a block. */
const DONE = "\u0001done\u0001";

/** What Ctrl+C does not end within this time is killed; missing output then shows in the comparison. */
const ENDING_MS_MAX = 30_000;

/** An interactive shell, like a reader's: its directory and variables persist between blocks. */
export class GuideTerminal {
  readonly #bash: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;
  #printed = "";
  /** How much of the output was taken. */
  #seen = 0;

  constructor(directory: string, env: NodeJS.ProcessEnv) {
    // In a separate process group, so that Ctrl+C reaches the programs that it runs.
    this.#bash = spawn("bash", ["--norc"], { cwd: directory, env, detached: true });
    this.#ended = once(this.#bash, "close");
    for (const output of [this.#bash.stdout, this.#bash.stderr]) {
      output.setEncoding("utf8").on("data", (text: string) => (this.#printed += stripVTControlCharacters(text)));
    }
    this.#bash.stdin.write("exec 2>&1; set -euo pipefail\n");
  }

  /** Begins a block that may not end by itself. */
  begin(block: string): void {
    this.#bash.stdin.write(`{ ${block}\n} </dev/null; printf '${DONE}'\n`);
  }

  /** Runs a block to its end and returns what it printed. Throws if one of its commands fails. */
  async run(block: string): Promise<string> {
    this.begin(block);
    const done = vi.waitFor(
      () => (this.#newOutput().includes(DONE) ? undefined : Promise.reject(new Error("The block has not ended"))),
      { timeout: 60_000, interval: 20 },
    );
    const ended = this.#ended.then(() => Promise.reject(new Error("One of its commands failed")));
    ended.catch(() => undefined);
    // The output shows the reason.
    await Promise.race([done, ended]).catch((error: unknown) => {
      throw new Error(`${String(error)}:\n${block}\n${this.#newOutput()}`);
    });
    return this.#take();
  }

  /** Returns the output since the last take once it satisfies; otherwise after a minute, or when the shell has ended. */
  async shown(satisfies: (printed: string) => boolean): Promise<string> {
    const satisfied = vi.waitFor(
      () => (satisfies(this.#newOutput().replaceAll(DONE, "")) ? undefined : Promise.reject(new Error("not yet"))),
      { timeout: 60_000, interval: 20 },
    );
    await Promise.race([satisfied.catch(() => undefined), this.#ended]);
    return this.#take();
  }

  /** Interrupts everything that runs there, like Ctrl+C, and closes the terminal. Returns all of its output. */
  async interrupt(): Promise<string> {
    const kill = (signal: NodeJS.Signals): void => {
      if (this.#bash.exitCode === null && this.#bash.signalCode === null) process.kill(-this.#bash.pid!, signal);
    };
    kill("SIGINT");
    this.#bash.stdin.end();
    const overdue = setTimeout(() => kill("SIGKILL"), ENDING_MS_MAX);
    await this.#ended;
    clearTimeout(overdue);
    return this.#printed;
  }

  #newOutput(): string {
    return this.#printed.slice(this.#seen);
  }

  #take(): string {
    const output = this.#newOutput();
    this.#seen = this.#printed.length;
    return output.replaceAll(DONE, "");
  }
}
