// After the sending: what the service has, and a recompute with its dry run before it.
import { setTimeout as delay } from "node:timers/promises";
import { request } from "./http.mjs";
import { Mistake } from "./mistake.mjs";
import { count, Progress } from "./progress.mjs";

/** Small backfills are done at once, large ones need not be asked about all the time. */
const [POLL_MS_MIN, POLL_MS_MAX] = [100, 2_000];
/** Timers of customers whose history arrives are held back for half a minute unless the operator says otherwise. */
const STALLED_MS = 300_000;

export class Administration {
  constructor({ url, environment, admin }, { tries, signal }) {
    const { project, token, organization } = admin;
    this.environment = environment;
    this.signal = signal;
    const headers = { authorization: `Bearer ${token}`, "x-svc-organization": organization };
    this.call = (method, path, body, query = "") =>
      request({
        url,
        method,
        path: `/projects/${encodeURIComponent(project)}${path}?env=${environment}${query}`,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        body,
        tries,
        signal,
        note: (text) => console.log(text),
      });
  }

  overview() {
    return this.call("GET", "/overview");
  }

  /** Waits until everything that was accepted has been evaluated, timers too. Throws a Mistake where nothing moves any more. */
  async evaluated() {
    const progress = new Progress();
    let moved = { waiting: "", at: 0 };
    for (let polls = 0; ; await this.#pause(polls++)) {
      const { events, customersDue } = await this.overview();
      // Events of the future wait for their time.
      const pending = events.pending - events.ahead;
      if (pending + customersDue === 0) return progress.end();
      const waiting = `${count(pending)} events and the timers of ${count(customersDue)} customers wait for evaluation`;
      progress.show(waiting);
      if (waiting !== moved.waiting) moved = { waiting, at: performance.now() };
      if (performance.now() - moved.at > STALLED_MS) {
        progress.end();
        throw new Mistake(`nothing moves any more: ${waiting}; see svc diagnose`);
      }
    }
  }

  /**
   * Tells what a recompute of all customers changes; with `mode` "run", does it. It compares where customers stand in the end, so there may
   * be something to put right in their histories where nobody would differ.
   */
  async recompute(mode) {
    const id = await this.#job("Dry run", { all: true, dryRun: true });
    if (mode === "run") await this.#job("Recompute", { from: id });
    else console.log(`To do exactly this: svc recompute --from ${id} --env ${this.environment}`);
  }

  async #job(title, scope) {
    let job = await this.call("POST", "/recomputes", scope);
    const path = `/recomputes/${encodeURIComponent(job.id)}`;
    const progress = new Progress({ unit: "customers", total: null });
    for (let polls = 0; job.status !== "completed"; job = await this.call("GET", path)) {
      if (job.status === "dead_letter")
        throw new Mistake(`${job.id} was given up: ${job.error}; svc recompute retry ${job.id} goes on`);
      progress.total = job.progress.customersTotal;
      progress.update(job.progress.customersDone);
      await this.#pause(polls++);
    }
    progress.end();
    await this.#tell(title, job, path);
    return job.id;
  }

  /** Before and after, in numbers, and the customers that change most. */
  async #tell(title, { id, progress, result }, path) {
    const would = title === "Dry run" ? "would differ" : "differ now";
    console.log(
      `${title} ${id}: ${count(result.customersChanged)} of ${count(progress.customersDone)} customers ${would}`,
    );
    if (result.customersChanged === 0) return;
    console.log(`  lifecycle  ${count(result.lifecycleChanged, "customer")}`);
    console.log(`  health     ${count(result.healthChanged, "customer")}`);
    console.log(`  segments   ${count(result.segmentsEntered)} entered, ${count(result.segmentsExited)} left`);
    console.log(`  rules      ${count(result.rules, "run")} more, ${count(result.rulesRemoved)} fewer`);
    console.log(`  emissions  ${count(result.emissions)}`);
    const { data } = await this.call("GET", `${path}/customers`, undefined, "&limit=5");
    for (const difference of data) console.log(`    ${difference.customerId}: ${changes(difference).join(", ")}`);
  }

  async #pause(polls) {
    const pause = Math.min(POLL_MS_MAX, POLL_MS_MIN * 1.3 ** polls);
    await delay(pause, undefined, { signal: this.signal }).catch(() => undefined);
    this.signal.throwIfAborted();
  }
}

/** What differs: a state and a score before and after, segments that are entered and left, and the names of all else. */
function changes({ lifecycle, health, segments, journeys, signals, rules, rulesRemoved = 0, emissions }) {
  const moved = (before, after) => (before === after ? [] : [`${before ?? "none"} → ${after ?? "none"}`]);
  const differs = ({ before, after } = {}) => JSON.stringify(before) !== JSON.stringify(after);
  const scores = moved(health.before?.overall, health.after?.overall);
  return [
    ...moved(lifecycle.before, lifecycle.after),
    ...scores.map((score) => `health ${score}`),
    ...(scores.length === 0 && differs(health) ? ["parts of the health"] : []),
    ...segments.after.filter((id) => !segments.before.includes(id)).map((id) => `+${id}`),
    ...segments.before.filter((id) => !segments.after.includes(id)).map((id) => `-${id}`),
    ...(differs(journeys) ? ["journeys"] : []),
    ...(differs(signals) || signals.changed !== undefined ? ["signals"] : []),
    ...(rules.length + rulesRemoved > 0 ? ["runs of rules"] : []),
    ...(emissions.length > 0 ? ["emissions"] : []),
  ];
}
