/** The neighbour and what it sees, in a process of its own: what the attacker does must not slow down the clock. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { DemoFailure } from "../../src/demo/failure.js";
import type { Figures, ObserverSettings, Question } from "./figures.js";

const PROGRAM = fileURLToPath(new URL("./main.ts", import.meta.url));

export class Observer {
  private constructor(private readonly child: ChildProcess) {}

  /** Resolves when events are being sent. */
  static async start(settings: ObserverSettings): Promise<Observer> {
    const child = fork(PROGRAM, [JSON.stringify(settings)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const observer = new Observer(child);
    await observer.#answer();
    return observer;
  }

  /** What was seen since it was asked before. */
  async take(): Promise<Figures> {
    return this.#ask("take");
  }

  /** Sends no more events, waits until all that were sent are seen or a time is over, and answers what was seen since it was asked before. */
  finish(): Promise<Figures> {
    return this.#ask("finish");
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, "exit");
    this.child.kill("SIGKILL"); // it holds nothing
    await exited;
  }

  async #ask(question: Question): Promise<Figures> {
    if (this.child.connected) this.child.send(question);
    return (await this.#answer()) as Figures;
  }

  async #answer(): Promise<unknown> {
    const given = new AbortController();
    const { signal } = given;
    try {
      const [message] = (await Promise.race([
        once(this.child, "message", { signal }),
        once(this.child, "exit", { signal }).then(() => {
          throw new DemoFailure("the process that watches the neighbour ended");
        }),
      ])) as [unknown];
      return message;
    } finally {
      given.abort();
    }
  }
}
