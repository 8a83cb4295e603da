/** Ends what must not outlive the benchmark: child processes, the server, its directory. Called last to first. */
const open: (() => Promise<void>)[] = [];
const SAME_SIGNAL_MS = 1_000;
let ending: Promise<void> | null = null;

/** Registers how something is to be ended, at the latest when the benchmark ends. Returns a function that ends it, once. */
export function registerCleanup(end: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | null = null;
  const once = () => {
    const index = open.indexOf(once);
    if (index >= 0) open.splice(index, 1);
    return (ended ??= end());
  };
  open.push(once);
  return once;
}

/** Ends everything that is still open, even if some of it fails to end; then throws the first failure. */
export function endAll(): Promise<void> {
  ending ??= (async () => {
    const failures: unknown[] = [];
    for (let end = open.at(-1); end !== undefined; end = open.at(-1)) {
      await end().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  })();
  return ending;
}

/** Whether everything is being ended. */
export function isEnding(): boolean {
  return ending !== null;
}

/** Ctrl+C and SIGTERM end everything before the process. A second signal exits at once, unless it is the first one passed on by a wrapper such as npm. */
export function endOnSignals(): void {
  let first: number | null = null;
  for (const [signal, status] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.on(signal, () => {
      first ??= performance.now();
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(status);
      if (ending !== null) return;
      // Queries and requests under way fail while the server ends, as intended.
      process.on("unhandledRejection", () => undefined);
      process.on("uncaughtException", () => undefined);
      void endAll().finally(() => process.exit(status));
    });
  }
}
