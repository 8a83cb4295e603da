import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { WorkerCounters } from "../../src/metrics/worker-metrics.js";
import { observeHeap } from "../../src/server/worker-role.js";
import { workerLimits } from "../../src/server/worker-thread-keeper.js";

const GIB = 1024 ** 3;

describe("the heap of the worker", () => {
  it.each([
    [64 * GIB, 2_048],
    [3 * GIB, 1_536],
    [GIB / 2, 256],
    [GIB / 16, 128],
  ])("of %d bytes of memory is limited to %d MiB", (memory, mebibytes) => {
    expect(workerLimits(memory)).toEqual({ maxOldGenerationSizeMb: mebibytes });
  });

  it("ends only the thread when it exceeds its limit", async () => {
    const grows = "const kept = []; for (;;) kept.push(new Array(10_000).fill(Math.random()));";
    const worker = new Worker(grows, { eval: true, resourceLimits: workerLimits(GIB / 4) });
    const [error] = (await once(worker, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ERR_WORKER_OUT_OF_MEMORY");
  });

  it("is observed as a share of its limit", () => {
    const counters = new WorkerCounters();
    observeHeap(counters)();
    const rows = counters.take();
    expect(rows.map(({ counter }) => counter)).toEqual(["svc_worker_heap_ratio", "svc_worker_heap_ratio"]);
    const share = rows.find(({ bucket }) => bucket === "sum")?.value;
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(1);
  });
});
