import { monitorEventLoopDelay } from "node:perf_hooks";
import prom from "prom-client";

const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE"]);

/** Gauges of prom-client whose names end like those of counters, which Prometheus' own check refuses. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** Resolution of the timer that measures delays of the event loop. */
const LOOP_RESOLUTION_MS = 10;
const LOOP_PERIOD_MS = 1_000;

/** The metrics of one process that serves HTTP. Labels have routes and codes, but never identify a client. */
export class ProcessMetrics {
  readonly #registry = new prom.Registry();
  readonly #requests = this.#counter(
    "svc_http_requests_total",
    "HTTP requests by method, route and class of the status.",
    ["method", "route", "status"],
  );
  readonly #durations = new prom.Histogram({
    name: "svc_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response, by method and route. Of this process.",
    labelNames: ["method", "route"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 40],
    registers: [this.#registry],
  });
  readonly #operations = this.#counter(
    "svc_ingest_operations_total",
    "Operations that ingestion answered 202, by outcome: accepted, or repeated and not stored again.",
    ["outcome"],
  );
  readonly #refusals = this.#counter(
    "svc_ingest_refusals_total",
    "Ingestion requests that were refused, by error code.",
    ["code"],
  );

  constructor({ version }: { version: string }) {
    const info = { [version]: 1 };
    this.gauge("svc_build_info", "Always 1; the label has the version of the program.", "version", () => info);
    for (const outcome of ["accepted", "repeated"]) this.#operations.inc({ outcome }, 0);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds Node.js' metrics of the process: memory, processor time, event loop, garbage collection. To be called once per process. */
  watchRuntime(): void {
    prom.collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.#watchEventLoop();
  }

  /** A blocked event loop delays all requests. prom-client's own delay metrics cover only the time since the last scrape. */
  #watchEventLoop(): void {
    const longest = new prom.Histogram({
      name: "svc_event_loop_delay_seconds",
      help: "Longest delay of the event loop within each second. Of this process.",
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [this.#registry],
    });
    const delays = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
    delays.enable();
    setInterval(() => {
      longest.observe(Math.max(0, delays.max / 1e9 - LOOP_RESOLUTION_MS / 1_000));
      delays.reset();
    }, LOOP_PERIOD_MS).unref();
  }

  /** Adds or replaces a gauge. At each scrape, `read` returns its values by the values of the label. */
  gauge(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
    this.#registry.removeSingleMetric(name);
    new prom.Gauge({
      name,
      help: `${help} Of this process.`,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labelValue, value] of Object.entries(read())) this.set({ [label]: labelValue }, value);
      },
    });
  }

  /** Counts a request. `route` is the pattern of its path; `status` is null if the client disconnected before the answer. */
  answered(method: string, route: string, status: number | null, seconds: number): void {
    const known = METHODS.has(method) ? method : "other";
    this.#requests.inc({ method: known, route, status: status === null ? "none" : `${Math.floor(status / 100)}xx` });
    this.#durations.observe({ method: known, route }, seconds);
  }

  /** Counts the operations of an ingestion request that was answered 202. */
  accepted(operations: number, repeated: number): void {
    this.#operations.inc({ outcome: "accepted" }, operations - repeated);
    this.#operations.inc({ outcome: "repeated" }, repeated);
  }

  /** Counts a refused ingestion request. */
  refused(code: string): void {
    this.#refusals.inc({ code });
  }

  /** Renders the metrics in Prometheus' text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): prom.Counter<Label> {
    return new prom.Counter({ name, help: `${help} Of this process.`, labelNames, registers: [this.#registry] });
  }
}
