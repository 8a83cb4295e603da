/** Lives of simulated customers, written down day by day, and the file of operations that they make. */

const DAY_MS = 86_400_000;

type Values = Record<string, unknown>;

interface Entry {
  /** When it reaches the service, in milliseconds since 1970. */
  arrives: number;
  /** When it happens. */
  happens: number;
  operation: Values;
}

/** What one customer does, and what is known of it. Days count from the beginning of its story, and may be fractions: 2.5 is half a day later. */
export class Story {
  readonly entries: Entry[] = [];
  readonly #begins: number;
  #arrives = -Infinity;

  /** @param begins the instant of day 0, ISO 8601 with a zone */
  constructor(
    readonly customerId: string,
    begins: string,
  ) {
    this.#begins = Date.parse(begins);
  }

  /** Something happens. */
  does(day: number, event: string, properties: Values = {}): this {
    const at = this.#instant(day);
    const { customerId } = this;
    const key = `${customerId}/${this.entries.length + 1}`;
    const timestamp = new Date(at).toISOString();
    return this.#note(at, { customerId, event, properties, timestamp, idempotencyKey: key });
  }

  /** The same thing happens again and again: on the first day, and every so many days up to the last. */
  every(days: number, first: number, last: number, event: string, properties: Values = {}): this {
    for (let day = first; day <= last; day += days) this.does(day, event, properties);
    return this;
  }

  /** Traits change (null: a trait is removed). They are sent with the next event, which should be one of this customer's on this day. */
  becomes(day: number, traits: Values): this {
    return this.#note(this.#instant(day), { type: "identify", customerId: this.customerId, traits });
  }

  /** All that follows reaches the service on this day, or when it happens where that is later. What happened before is sent late. */
  arrives(day: number): this {
    this.#arrives = this.#instant(day);
    return this;
  }

  #instant(day: number): number {
    return this.#begins + Math.round(day * DAY_MS);
  }

  #note(at: number, operation: Values): this {
    this.entries.push({ arrives: Math.max(this.#arrives, at), happens: at, operation });
    return this;
  }
}

/** All stories in the order in which their operations reach the service, as JSON Lines. */
export function dataOf(stories: readonly Story[]): string {
  const entries = stories
    .flatMap((story) => story.entries)
    .sort((one, other) => one.arrives - other.arrives || one.happens - other.happens);
  return entries.map(({ operation }) => `${JSON.stringify(operation)}\n`).join("");
}
