import type { CounterRow } from "../db/api/monitoring.js";

/** A figure that workers gather: a counter, or a histogram. */
export interface WorkerMetric {
  name: string;
  help: string;
  /** Of its labels, in the order of the values that `WorkerCounters` is given. */
  labels: readonly string[];
  /** Upper bounds, rising; of histograms only. */
  buckets?: readonly number[];
}

export const EVALUATED = {
  name: "svc_evaluated_operations_total",
  help: "Operations that workers have evaluated. Of the installation.",
  labels: [],
} as const satisfies WorkerMetric;

export const EVALUATION_DELAY = {
  name: "svc_ingest_to_evaluated_seconds",
  help: "Delay from an operation's acceptance, or from its timestamp where that is in the future, to the commit of its evaluation. Of the installation.",
  labels: [],
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
} as const satisfies WorkerMetric;

export const ATTEMPTS = {
  name: "svc_webhook_attempts_total",
  help: "Requests to webhooks by outcome: accepted (2xx), refused (any other answer), unanswered. Of the installation.",
  labels: ["outcome"],
} as const satisfies WorkerMetric;

export const JOBS = {
  name: "svc_finished_jobs_total",
  help: "Runs of jobs of the queue by task and outcome: done or failed; what failed is tried again. Of the installation.",
  labels: ["task", "outcome"],
} as const satisfies WorkerMetric;

export const TICKS = {
  name: "svc_tick_duration_seconds",
  help: "Duration of workers' ticks, one a second and worker. Of the installation.",
  labels: [],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
} as const satisfies WorkerMetric;

export const HEAP = {
  name: "svc_worker_heap_ratio",
  help: "Share of its heap limit that a worker uses, sampled every ten seconds; at 1 the worker exits and is started again. Of the installation.",
  labels: [],
  buckets: [0.1, 0.25, 0.5, 0.75, 0.9, 1],
} as const satisfies WorkerMetric;

/** All of them, in the order in which they are shown. */
export const WORKER_METRICS: readonly WorkerMetric[] = [EVALUATED, EVALUATION_DELAY, ATTEMPTS, JOBS, TICKS, HEAP];

/** What stands for the sum of a histogram among its buckets, and for the bucket without a bound. */
export const SUM = "sum";
export const INFINITE_BUCKET = "+Inf";
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
    this.#add(name, "", bound === undefined ? INFINITE_BUCKET : String(bound), 1);
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
