/** What must not outlive the benchmark: child processes, the server, its directory. Ended last to first. */
const open: (() => Promise<void>)[] = [];
const SAME_SIGNAL_MS = 1_000;
let ending: Promise<void> | null = null;

/** Notes how something is ended if nobody does before. Answers the function that ends it, once. */
export function endLater(end: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | null = null;
  const once = () => {
    const index = open.indexOf(once);
    if (index >= 0) open.splice(index, 1);
    return (ended ??= end());
  };
  open.push(once);
  return once;
}

/** Ends all that is still open, also where something of it fails to end; throws the first of those failures then. */
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

/** Ctrl+C and SIGTERM end everything first. A second signal does not wait, but for one that a wrapper such as npm passes on as well. */
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
      // Queries and requests under way fail while the server goes; that is what was asked for.
      process.on("unhandledRejection", () => undefined);
      process.on("uncaughtException", () => undefined);
      void endAll().finally(() => process.exit(status));
    });
  }
}
