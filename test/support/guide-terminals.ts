import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { vi } from "vitest";

/** Printed by the shell when a block is through. */
const DONE = "\u0001done\u0001";

/** What does not end by Ctrl+C in this time is killed: what is missing then is told by the comparison of what was printed. */
const ENDING_MS_MAX = 30_000;

/** A shell that is typed into, as a reader's is: where it was and what it defined holds for the next block. */
export class GuideTerminal {
  readonly #bash: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;
  #printed = "";
  /** Up to where of what was printed somebody has looked. */
  #seen = 0;

  constructor(directory: string, env: NodeJS.ProcessEnv) {
    // A group of its own, so that Ctrl+C reaches what it runs.
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

  /** Runs a block to its end and answers what it printed. Throws where one of its commands fails. */
  async run(block: string): Promise<string> {
    this.begin(block);
    const through = vi.waitFor(
      () => (this.#news().includes(DONE) ? undefined : Promise.reject(new Error("The block is not through"))),
      { timeout: 60_000, interval: 20 },
    );
    const ended = this.#ended.then(() => Promise.reject(new Error("One of its commands failed")));
    ended.catch(() => undefined);
    // Whatever the reason, what was printed tells it.
    await Promise.race([through, ended]).catch((error: unknown) => {
      throw new Error(`${String(error)}:\n${block}\n${this.#news()}`);
    });
    return this.#take();
  }

  /** Answers what was printed since somebody looked last, once it satisfies, or what there is after a minute, or where nothing more can come. */
  async shown(satisfies: (printed: string) => boolean): Promise<string> {
    const satisfied = vi.waitFor(
      () => (satisfies(this.#news().replaceAll(DONE, "")) ? undefined : Promise.reject(new Error("not yet"))),
      { timeout: 60_000, interval: 20 },
    );
    await Promise.race([satisfied.catch(() => undefined), this.#ended]);
    return this.#take();
  }

  /** As Ctrl+C does it: all that runs there is interrupted, and the terminal is closed. Answers all that was ever printed there. */
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

  #news(): string {
    return this.#printed.slice(this.#seen);
  }

  #take(): string {
    const news = this.#news();
    this.#seen = this.#printed.length;
    return news.replaceAll(DONE, "");
  }
}
