import { EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it, vi } from "vitest";
import { createLogger } from "../../src/server/log.js";
import { endIfSilent } from "../../src/server/worker-thread-keeper.js";

/** A log that collects its lines. */
function collected() {
  const lines: string[] = [];
  return { lines, logger: createLogger("info", { write: (line) => lines.push(line) }) };
}

it("a thread whose event loop is blocked is ended, with a line in the log", async () => {
  const { lines, logger } = collected();
  const worker = new Worker("for (;;);", { eval: true });
  endIfSilent(worker, 500, logger);
  await once(worker, "exit");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: "error", msg: "the worker's thread hangs and is ended" },
  ]);
});

it("a thread that gives signs of life is not, nor one whose signs wait after a pause of the process", () => {
  vi.useFakeTimers();
  const terminate = vi.fn();
  const worker = Object.assign(new EventEmitter(), { terminate });
  const { lines, logger } = collected();
  const isAlive = endIfSilent(worker as unknown as Worker, 1_000, logger);
  for (let sign = 0; sign < 20; sign++) {
    vi.advanceTimersByTime(900);
    isAlive();
  }
  // As after a pause: the timer is overdue by much and fires once.
  vi.advanceTimersToNextTimer();
  expect(terminate).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_000);
  expect(terminate).toHaveBeenCalledOnce();
  expect(lines).toHaveLength(1);
  vi.useRealTimers();
});
