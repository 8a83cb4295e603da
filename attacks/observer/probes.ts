/** Requests the health probes, and measures how long the event loop of the HTTP process is blocked. */
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Figures } from "./figures.js";

const LIVE_EVERY_MS = 20;
const READY_EVERY_MS = 500;
const ANSWER_MS_MAX = 120_000;

export class Probes {
  readonly #agent = new Agent({ connections: 4, pipelining: 1, headersTimeout: ANSWER_MS_MAX });
  #longestMs = 0;
  /** When the current request of /livez was sent; null between requests. */
  #askedAt: number | null = null;
  #unready: Record<string, number> = {};

  constructor(private readonly url: string) {}

  /** Runs forever. */
  async run(): Promise<void> {
    await Promise.all([this.#live(), this.#ready()]);
  }

  take(): Pick<Figures, "longestBlockMs" | "unready"> {
    // The current wait counts as well.
    const longestBlockMs = Math.max(this.#longestMs, this.#askedAt === null ? 0 : performance.now() - this.#askedAt);
    const unready = this.#unready;
    this.#longestMs = 0;
    this.#unready = {};
    return { longestBlockMs, unready };
  }

  async #live(): Promise<void> {
    for (;;) {
      this.#askedAt = performance.now();
      // If the service is down, its process's end and the other probe show that.
      await this.#ask("/livez").catch(() => undefined);
      this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#askedAt);
      this.#askedAt = null;
      await delay(LIVE_EVERY_MS);
    }
  }

  async #ready(): Promise<void> {
    for (;;) {
      const how = await this.#ask("/readyz").catch(
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      );
      if (how !== "200") this.#unready[how] = (this.#unready[how] ?? 0) + 1;
      await delay(READY_EVERY_MS);
    }
  }

  async #ask(path: string): Promise<string> {
    const { statusCode, body } = await request(this.url + path, { dispatcher: this.#agent });
    const text = await body.text();
    const names = [...text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
    return [statusCode, ...names].join(" ");
  }
}
