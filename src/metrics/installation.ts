import prom from "prom-client";
import type { CounterRow, Installation } from "../db/api/monitoring.js";
import { SEPARATOR, SUM, INFINITE_BUCKET, WORKER_METRICS, type WorkerMetric } from "./worker-metrics.js";

interface Gauge {
  help: string;
  labels?: readonly string[];
  /** The current values, each with the values of its labels. */
  read: (installation: Installation) => readonly (readonly [labels: readonly string[], value: number])[];
}

const one = (value: number) => [[[], value]] as const;

/** Metrics that are read from the database, by name. Every process that serves HTTP shows the same. */
const GAUGES: Readonly<Record<string, Gauge>> = {
  svc_pending_operations: {
    help: "Operations that wait for evaluation; beyond 10,000 an estimate.",
    read: ({ pendingOperations }) => one(pendingOperations),
  },
  svc_oldest_pending_seconds: {
    help: "How long ago the oldest operation that waits for evaluation was accepted; 0 if none waits.",
    read: ({ oldestPendingSeconds }) => one(oldestPendingSeconds),
  },
  svc_set_aside_customers: {
    help: "Customers set aside because their evaluation failed; counted up to 10,000.",
    read: ({ setAsideCustomers }) => one(setAsideCustomers),
  },
  svc_quarantined_operations: {
    help: "Operations that were accepted and are in quarantine because they violate the schema.",
    read: ({ quarantinedOperations }) => one(quarantinedOperations),
  },
  svc_jobs: {
    help: "Jobs of the queue by task and state: ready, running, waiting for their time, or failed for good.",
    labels: ["task", "state"],
    read: ({ jobs }) => jobs.map(({ task, state, jobs: count }) => [[task, state], count]),
  },
  svc_workers: {
    help: "Workers that have shown a sign of life in the last 30 seconds.",
    read: ({ workers }) => one(workers),
  },
  svc_recomputes: {
    help: "Recomputes, dry runs, previews and backtests that are not completed, by kind and status; those that were given up, for a day.",
    labels: ["kind", "status"],
    read: ({ recomputes }) => recomputes.map(({ kind, status, recomputes: count }) => [[kind, status], count]),
  },
  svc_recompute_customers: {
    help: "Customers of unfinished recomputes, dry runs, previews and backtests: all that are counted so far, and those done.",
    labels: ["customers"],
    read: ({ recomputeCustomers }) => Object.entries(recomputeCustomers).map(([which, count]) => [[which], count]),
  },
  svc_pending_deliveries: {
    help: "Pending deliveries to enabled webhooks; beyond 10,000 an estimate.",
    read: ({ deliveries }) => one(deliveries.pending),
  },
  svc_oldest_due_delivery_seconds: {
    help: "How long the delivery that is most overdue has been due; 0 if none is.",
    read: ({ deliveries }) => one(deliveries.oldestDueSeconds),
  },
  svc_disabled_webhooks: { help: "Webhooks that are disabled.", read: ({ webhooks }) => one(webhooks.disabled) },
  svc_failing_webhooks: {
    help: "Webhooks at which all attempts since the last success have failed.",
    read: ({ webhooks }) => one(webhooks.failing),
  },
  svc_database_connections: {
    help: "Connections to the database by application.",
    labels: ["application"],
    read: ({ connections }) => connections.map(({ application, connections: count }) => [[application], count]),
  },
  svc_database_connections_max: {
    help: "Connections that the database server allows, for all of its databases.",
    read: ({ connectionsMax }) => one(connectionsMax),
  },
};

/**
 * Renders the metrics of the installation in Prometheus' text format. `installation` is null if they could not be read, which does not
 * necessarily mean that the database does not answer.
 */
export async function renderInstallation(installation: Installation | null, databaseUp = installation !== null) {
  const registry = new prom.Registry();
  const registers = [registry];
  const help = ofInstallation("1 if the database answered at this scrape, 0 if it did not.");
  new prom.Gauge({ name: "svc_database_up", help, registers }).set(databaseUp ? 1 : 0);
  if (installation !== null) {
    for (const [name, { help, labels = [], read }] of Object.entries(GAUGES)) {
      const gauge = new prom.Gauge({ name, help: ofInstallation(help), labelNames: labels, registers });
      for (const [row, value] of read(installation)) gauge.set(labelled(labels, row), value);
    }
    for (const metric of WORKER_METRICS) showWorkers(registry, metric, installation.counters);
  }
  return registry.metrics();
}

function ofInstallation(help: string): string {
  return `${help} Of the installation.`;
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}

function showWorkers(registry: prom.Registry, metric: WorkerMetric, counters: readonly CounterRow[]): void {
  const { name, labels = [], buckets } = metric;
  const help = ofInstallation(metric.help);
  const rows = counters.filter(({ counter }) => counter === name);
  if (buckets === undefined) {
    // prom-client starts a counter without labels at 0, so that its first increase is visible to Prometheus.
    const counter = new prom.Counter({ name, help, labelNames: labels, registers: [registry] });
    for (const { label, value } of rows) counter.inc(labelled(labels, label.split(SEPARATOR)), value);
    return;
  }
  const histogram = { name, help, type: "histogram", values: histogramValues(name, buckets, rows) };
  // prom-client's histogram observes single values, but ours are already counted. The registry uses only these members of a metric.
  registry.registerMetric({ name, get: () => Promise.resolve(histogram) } as unknown as prom.Metric);
}

/** Buckets of other versions of the program count only toward the larger ones and the total. */
function histogramValues(name: string, buckets: readonly number[], rows: readonly CounterRow[]) {
  const of = (bucket: string) => rows.find((row) => row.bucket === bucket)?.value ?? 0;
  const count = rows.filter(({ bucket }) => bucket !== SUM).reduce((total, { value }) => total + value, 0);
  const bounded = buckets.map((bound) => {
    const upTo = rows.filter(({ bucket }) => bucket !== SUM && Number(bucket.replace("+Inf", "Infinity")) <= bound);
    return { bound: String(bound), value: upTo.reduce((total, { value }) => total + value, 0) };
  });
  return [
    ...[...bounded, { bound: INFINITE_BUCKET, value: count }].map(({ bound, value }) => ({
      labels: { le: bound },
      value,
      metricName: `${name}_bucket`,
    })),
    { labels: {}, value: of(SUM), metricName: `${name}_sum` },
    { labels: {}, value: count, metricName: `${name}_count` },
  ];
}
