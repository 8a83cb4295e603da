import { Agent, request } from "undici";

const SINGLES = 4;
const BATCH_OPERATIONS = 50;
const CUSTOMERS = 40;

/** The acknowledged operations in total. */
export interface Sent {
  events: number;
  keys: string[];
  customers: number;
}

/**
 * Backends that send single events and batches without pause, each event with a unique key, to the available services. A request
 * whose connection was lost is repeated with the same keys, as docs/ingestion.md says.
 */
export class Load {
  /** Answers other than 202. */
  readonly failures: string[] = [];
  /** The number of requests that got no answer and were repeated. */
  repeated = 0;
  readonly #agent = new Agent();
  readonly #keys: string[] = [];
  readonly #customers = new Set<string>();
  #urls: readonly string[] = [];
  #number = 0;
  #turn = 0;
  #stopping = false;
  #senders: Promise<void>[] = [];
  #waiting: { count: number; resolve: () => void }[] = [];

  constructor(private readonly apiKey: string) {}

  /** Sends further requests to these services in turn; those in progress continue. */
  sendTo(...urls: string[]): void {
    this.#urls = urls;
    if (this.#senders.length > 0) return;
    this.#senders = [...Array(SINGLES).fill(1), BATCH_OPERATIONS].map((operations: number) => this.#send(operations));
  }

  /** Resolves once this many more events have been acknowledged. */
  acknowledged(more: number): Promise<void> {
    const count = this.#keys.length + more;
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  async stop(): Promise<Sent> {
    this.#stopping = true;
    await Promise.all(this.#senders);
    await this.#agent.close();
    return { events: this.#keys.length, keys: this.#keys, customers: this.#customers.size };
  }

  async #send(operations: number): Promise<void> {
    while (!this.#stopping) {
      const events = Array.from({ length: operations }, () => this.#event());
      const failure =
        operations === 1
          ? await this.#post("/v1/events", events[0]!)
          : await this.#post("/v1/events/batch", { events });
      if (failure !== null) this.failures.push(failure);
      else {
        for (const { idempotencyKey, customerId } of events) {
          this.#keys.push(idempotencyKey);
          this.#customers.add(customerId);
        }
      }
      for (const { count, resolve } of this.#waiting) if (this.#keys.length >= count) resolve();
    }
  }

  #event() {
    const number = this.#number++;
    return {
      customerId: `customer-${number % CUSTOMERS}`,
      event: "login",
      properties: { seats: number },
      idempotencyKey: `key-${number}`,
    };
  }

  /** The unexpected answer; null if accepted. */
  async #post(path: string, body: object): Promise<string | null> {
    for (;;) {
      const url = this.#urls[this.#turn++ % this.#urls.length]! + path;
      try {
        const { statusCode, body: answer } = await request(url, {
          method: "POST",
          dispatcher: this.#agent,
          headers: { authorization: `Bearer ${this.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        return statusCode === 202 ? null : `${url}: ${statusCode} ${text}`;
      } catch {
        this.repeated++;
      }
    }
  }
}
