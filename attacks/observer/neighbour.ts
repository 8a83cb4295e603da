/** The quiet organization: sends ten single events a second, each until it is accepted, and polls for each until it is visible. */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { Agent, request } from "undici";
import { Watch } from "../../bench/lib/watch.js";
import type { Figures, ObserverSettings } from "./figures.js";

const PER_SECOND = 10;
/** Customers take turns, so that for minutes each event is visible in a separate state. */
const CUSTOMERS = 2_000;
const AGAIN_AFTER_MS = 100;
const ANSWER_MS_MAX = 20_000;

export class Neighbour {
  readonly #watch: Watch;
  readonly #agent = new Agent({ connections: 64, pipelining: 1, headersTimeout: ANSWER_MS_MAX });
  readonly #run = randomBytes(6).toString("hex");
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #refused: Record<string, number> = {};
  #accepted = 0;
  #isOver = false;

  constructor(
    private readonly settings: ObserverSettings,
    sql: Sql,
  ) {
    this.#watch = new Watch(sql, settings.project);
  }

  /** Sends and polls until `finish`. */
  run(): Promise<void> {
    this.#running = this.#watch.look(this.#sendSteadily());
    return this.#running;
  }

  /** Stops sending, and resolves when all events are visible or the time is over. */
  async finish(msMax: number): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#running, delay(msMax)]);
    this.#isOver = true;
  }

  take(): Pick<Figures, "latencies" | "accepted" | "unseen" | "refused"> {
    const refused = this.#refused;
    this.#refused = {};
    const { unseen } = this.#watch;
    // Events that are not waited for any more took at least until now.
    const missing = this.#isOver ? unseen.map(({ dueAt }) => performance.now() - dueAt) : [];
    const latencies = [...this.#watch.take(), ...missing];
    return { latencies, accepted: this.#accepted, unseen: unseen.length, refused };
  }

  async #sendSteadily(): Promise<void> {
    const startedAt = performance.now();
    const sending: Promise<void>[] = [];
    for (let index = 0; !this.#stopping.signal.aborted; index++) {
      const dueAt = startedAt + (index * 1_000) / PER_SECOND;
      await delay(Math.max(0, dueAt - performance.now()));
      sending.push(this.#send(index, dueAt));
    }
    await Promise.all(sending);
  }

  async #send(index: number, dueAt: number): Promise<void> {
    const timestamp = Date.now();
    const customerId = customerOf(index);
    this.#watch.add({ customerId, timestamp, dueAt });
    const idempotencyKey = `${this.#run}-${index}`;
    const body = { customerId, event: "seen", timestamp: new Date(timestamp).toISOString(), idempotencyKey };
    while (!(await this.#isAccepted(JSON.stringify(body)))) await delay(AGAIN_AFTER_MS);
    this.#accepted += 1;
  }

  async #isAccepted(body: string): Promise<boolean> {
    let how: string;
    try {
      const answer = await request(`${this.settings.url}/v1/events`, {
        dispatcher: this.#agent,
        method: "POST",
        headers: { authorization: `Bearer ${this.settings.key}`, "content-type": "application/json" },
        body,
      });
      await answer.body.dump();
      if (answer.statusCode === 202) return true;
      how = String(answer.statusCode);
    } catch (error) {
      how = (error as { code?: string }).code ?? (error as Error).name;
    }
    this.#refused[how] = (this.#refused[how] ?? 0) + 1;
    return false;
  }
}

/** The customer of the nth event. */
export function customerOf(index: number): string {
  return `quiet-${index % CUSTOMERS}`;
}
