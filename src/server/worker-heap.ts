import os from "node:os";
import v8 from "node:v8";
import type { ResourceLimits } from "node:worker_threads";
import { HEAP, type WorkerCounters } from "../metrics/worker-metrics.js";

const MIB = 1024 * 1024;
/** More than any chunk of work needs. */
const HEAP_MIB_MAX = 2_048;
/** Less than this and the worker would not start. */
const HEAP_MIB_MIN = 128;

/**
 * The limits of the worker's thread: half of the memory that there is, at most 2 GiB. A thread that reaches them ends alone, with
 * ERR_WORKER_OUT_OF_MEMORY; without them the whole process would, or the machine begin to swap.
 *
 * @param memory what the process may use, in bytes
 */
export function workerLimits(memory: number = memoryOfProcess()): ResourceLimits {
  const half = Math.floor(memory / 2 / MIB);
  return { maxOldGenerationSizeMb: Math.max(HEAP_MIB_MIN, Math.min(HEAP_MIB_MAX, half)) };
}

/** What its container allows, or what the machine has. */
function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  const total = os.totalmem();
  // Without a limit it is 0, or more than there is.
  return constrained > 0 && constrained < total ? constrained : total;
}

/** How often the heap is looked at. */
const LOOK_MS = 10_000;

/** Observes how much of its limit the heap of this thread takes, again and again. Answers what ends that. */
export function observeHeap(counters: WorkerCounters): () => void {
  const look = (): void => {
    const { used_heap_size: used, heap_size_limit: limit } = v8.getHeapStatistics();
    counters.observe(HEAP, used / limit);
  };
  look();
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
