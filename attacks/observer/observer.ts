/** The neighbour and its measurements, in a separate process, so that the attacker does not distort them. */
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

  /** The figures since the last question. */
  async take(): Promise<Figures> {
    return this.#ask("take");
  }

  /** Stops sending events, waits until all are visible or a time is over, and returns the figures since the last question. */
  finish(): Promise<Figures> {
    return this.#ask("finish");
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, "exit");
    this.child.kill("SIGKILL"); // it has nothing to clean up
    await exited;
  }

  async #ask(question: Question): Promise<Figures> {
    if (this.child.connected) this.child.send(question);
    return (await this.#answer()) as Figures;
  }

  async #answer(): Promise<unknown> {
    const settled = new AbortController();
    const { signal } = settled;
    try {
      const [message] = (await Promise.race([
        once(this.child, "message", { signal }),
        once(this.child, "exit", { signal }).then(() => {
          throw new DemoFailure("the process that watches the neighbour ended");
        }),
      ])) as [unknown];
      return message;
    } finally {
      settled.abort();
    }
  }
}
