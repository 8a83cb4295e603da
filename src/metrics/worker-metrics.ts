import type { CounterRow } from "../db/api/monitoring.js";

/** A metric of workers: a counter, or a histogram. */
export interface WorkerMetric {
  name: string;
  help: string;
  /** The names of its labels, in the order of the values that `WorkerCounters.count` takes. */
  labels?: readonly string[];
  /** Upper bounds in ascending order; for histograms only. */
  buckets?: readonly number[];
}

export const EVALUATED = {
  name: "svc_evaluated_operations_total",
  help: "Operations that workers have evaluated.",
} as const satisfies WorkerMetric;

export const EVALUATION_DELAY = {
  name: "svc_ingest_to_evaluated_seconds",
  help: "Delay from an operation's acceptance, or from its timestamp where that is in the future, to the commit of its evaluation.",
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
} as const satisfies WorkerMetric;

export const ATTEMPTS = {
  name: "svc_webhook_attempts_total",
  help: "Requests to webhooks by outcome: accepted (2xx), refused (any other answer), unanswered.",
  labels: ["outcome"],
} as const satisfies WorkerMetric;

export const JOBS = {
  name: "svc_finished_jobs_total",
  help: "Runs of jobs of the queue by task and outcome: done or failed; what failed is tried again.",
  labels: ["task", "outcome"],
} as const satisfies WorkerMetric;

export const TICKS = {
  name: "svc_tick_duration_seconds",
  help: "Duration of workers' ticks, one a second and worker.",
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
} as const satisfies WorkerMetric;

export const HEAP = {
  name: "svc_worker_heap_ratio",
  help: "Share of its heap limit that a worker uses, sampled every ten seconds; at 1 the worker exits and is started again.",
  buckets: [0.1, 0.25, 0.5, 0.75, 0.9, 1],
} as const satisfies WorkerMetric;

/** All metrics of workers, in the order of the output. */
export const WORKER_METRICS: readonly WorkerMetric[] = [EVALUATED, EVALUATION_DELAY, ATTEMPTS, JOBS, TICKS, HEAP];

/** The bucket names for the sum of a histogram, and for the bucket without an upper bound. */
export const SUM = "sum";
export const INFINITE_BUCKET = "+Inf";
/** Separates the values of several labels, none of which contains it. */
export const SEPARATOR = "/";

/**
 * The increments of one worker process since the last `take`, to be added to the counters of the installation. Buckets are not cumulative.
 */
export class WorkerCounters {
  #rows = new Map<string, CounterRow>();

  /** Increases a counter by `by`. */
  count({ name }: WorkerMetric, labels: readonly string[], by = 1): void {
    this.#add(name, labels.join(SEPARATOR), "", by);
  }

  /** Records a value of a histogram. */
  observe({ name, buckets = [] }: WorkerMetric, value: number): void {
    const bound = buckets.find((upper) => value <= upper);
    this.#add(name, "", bound === undefined ? INFINITE_BUCKET : String(bound), 1);
    this.#add(name, "", SUM, value);
  }

  /** Returns the collected increments and resets them. */
  take(): CounterRow[] {
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    return rows;
  }

  /** Adds increments again that were taken but could not be stored. */
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
