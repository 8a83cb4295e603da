const NAMES = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What ends a process from outside, such as Ctrl+C, until it is released. */
export class SignalTrap {
  readonly #onSignal = (name: NodeJS.Signals): void => this.handle(name);
  /** What is done about them. */
  handle: (name: NodeJS.Signals) => void;

  constructor(handle: (name: NodeJS.Signals) => void) {
    this.handle = handle;
    for (const name of NAMES) process.on(name, this.#onSignal);
  }

  /** From now on they do again what they did before. */
  release(): void {
    for (const name of NAMES) process.off(name, this.#onSignal);
  }
}
