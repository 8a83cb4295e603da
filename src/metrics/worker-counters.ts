import type { CounterRow } from "../db/calls-metrics.js";
import type { WorkerMetric } from "./worker-metrics.js";

/** What stands for the sum of a histogram among its buckets, and for the bucket without a bound. */
export const SUM = "sum";
export const UNBOUNDED = "+Inf";
/** Between the values of several labels. None of them holds it. */
export const SEPARATOR = "/";

/**
 * Figures of one worker process since they were last taken, to be added to those of the installation. Buckets are counted each by itself, not
 * together with the smaller ones.
 */
export class WorkerCounters {
  #rows = new Map<string, CounterRow>();

  /** Counts so many of a counter. */
  count({ name }: WorkerMetric, labels: readonly string[] = [], by = 1): void {
    this.#add(name, labels.join(SEPARATOR), "", by);
  }

  /** Takes down a value of a histogram. */
  observe({ name, buckets = [] }: WorkerMetric, value: number): void {
    const bound = buckets.find((most) => value <= most);
    this.#add(name, "", bound === undefined ? UNBOUNDED : String(bound), 1);
    this.#add(name, "", SUM, value);
  }

  /** What has gathered; it is forgotten here. */
  take(): CounterRow[] {
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    return rows;
  }

  /** What was taken and could not be handed on. */
  giveBack(rows: readonly CounterRow[]): void {
    for (const { counter, label, bucket, value } of rows) this.#add(counter, label, bucket, value);
  }

  #add(counter: string, label: string, bucket: string, value: number): void {
    const key = `${counter} ${label} ${bucket}`;
    const row = this.#rows.get(key);
    if (row === undefined) this.#rows.set(key, { counter, label, bucket, value });
    else row.value += value;
  }
}
