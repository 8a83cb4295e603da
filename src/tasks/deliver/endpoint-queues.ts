import type { ClaimedDelivery, HeldDelivery, QueueRoom } from "../../db/api/webhooks.js";

interface EndpointQueuesOptions {
  /** Requests under way in this process at most. */
  underWayMax: number;
  /** Makes the request; resolves, with whether the receiver accepted it and when that is on record, once it is answered. Never rejects. */
  send(delivery: ClaimedDelivery): Promise<{ accepted: boolean; recorded: Promise<void> }>;
  /** Called when a queue runs low of which the database may have more. */
  onLow(): void;
}

/** Of the room that is left, this part may go to one webhook, so that those which hang, however many, leave room for the others. */
const SHARE = 1 / 8;
/** Of all requests, this part may go to webhooks that are failing. */
const FAILING_SHARE = 1 / 2;
/** Where nothing is known of a webhook, requests under way at first, and deliveries that are held. */
export const FIRST_WINDOW = 2;
/** What a webhook accepts in so long may wait for it. */
const WAITING_MS = 100;
/** What waited longer is given back, to be claimed again: its webhook may have been changed, disabled or deleted meanwhile. */
const FRESH_MS = 2_000;
/** How long it is remembered what an idle webhook keeps up with. */
const REMEMBERED_MS = 10_000;
/** A pace makes up for delays up to this. */
const CATCH_UP_MS = 50;

/** The deliveries to one webhook that this worker holds. */
class EndpointQueue {
  waiting: { delivery: ClaimedDelivery; claimedAt: number }[] = [];
  underWay = 0;
  /** Answered and not on record yet. */
  unrecorded = 0;
  /** The latest attempt failed. */
  failing: boolean;
  /** Requests that may be under way, as far as the webhook has shown that it keeps up. */
  window: number;
  /** Requests it accepts per millisecond, lately; how many since that was last looked at, and when that was (ms, monotonic). */
  rate = 0;
  accepted = 0;
  ratedAt: number;
  usedAt: number;
  /** When the next request may begin, where the webhook has a limit per second (ms, monotonic). */
  paceAt = 0;
  /** Runs until then. */
  timer: NodeJS.Timeout | null = null;
  /** The database may have more than the queue could hold. */
  more = false;

  /** @param settings of the webhook, as its latest delivery has them @param now (ms, monotonic) */
  constructor(
    public settings: ClaimedDelivery,
    now: number,
  ) {
    this.failing = settings.failing;
    this.window = this.failing ? 1 : FIRST_WINDOW;
    this.ratedAt = now;
    this.usedAt = now;
  }
}

/**
 * Holds claimed deliveries, a queue for each webhook, and begins their requests as fast as the limits of each allow, in turn. How much of a
 * webhook is held follows from how much it accepts, so that what waits for webhooks that hang takes no room from others.
 */
export class EndpointQueues {
  /** In the order in which their turn comes. */
  readonly #queues = new Map<string, EndpointQueue>();
  #underWay = 0;
  #failingUnderWay = 0;
  #closed = false;

  constructor(private readonly options: EndpointQueuesOptions) {}

  /** Deliveries that wait for their request to begin. */
  *waiting(): Iterable<HeldDelivery> {
    for (const { waiting } of this.#queues.values()) for (const { delivery } of waiting) yield delivery;
  }

  /** How much more of each webhook that is known may be held; of others FIRST_WINDOW. To be asked before a claim. */
  rooms(): QueueRoom[] {
    const now = performance.now();
    this.#forget(now);
    return [...this.#queues].map(([webhookId, queue]) => {
      dropStale(queue, now);
      rate(queue, now);
      return { webhookId, room: Math.max(0, waitingMax(queue) - queue.waiting.length) };
    });
  }

  /** How many more webhooks that are failing may be tried. */
  failingRoom(): number {
    let held = 0;
    for (const queue of this.#queues.values()) if (queue.failing) held += queue.underWay + queue.waiting.length;
    return Math.max(0, Math.floor(this.options.underWayMax * FAILING_SHARE) - held);
  }

  /** Takes what was claimed for these rooms. `cut`: there was less room than that in all. */
  add(claimed: readonly ClaimedDelivery[], rooms: readonly QueueRoom[], cut: boolean): void {
    const claimedAt = performance.now();
    const counts = new Map<string, number>();
    for (const delivery of claimed) {
      const queue = this.#queues.get(delivery.webhookId) ?? new EndpointQueue(delivery, claimedAt);
      this.#queues.set(delivery.webhookId, queue);
      queue.settings = delivery;
      queue.waiting.push({ delivery, claimedAt });
      counts.set(delivery.webhookId, (counts.get(delivery.webhookId) ?? 0) + 1);
    }
    // A queue that was not given what it had room for has all that there is.
    const asked = new Map([...counts.keys()].map((webhookId) => [webhookId, FIRST_WINDOW]));
    for (const { webhookId, room } of rooms) asked.set(webhookId, room);
    for (const [webhookId, room] of asked) {
      const queue = this.#queues.get(webhookId);
      if (queue && (cut || room > 0)) queue.more = cut || (counts.get(webhookId) ?? 0) >= room;
    }
    this.#begin();
  }

  /** Begins nothing more; what waits is given back. */
  close(): void {
    this.#closed = true;
    for (const queue of this.#queues.values()) {
      if (queue.timer) clearTimeout(queue.timer);
      queue.waiting = [];
    }
  }

  #forget(now: number): void {
    for (const [webhookId, queue] of this.#queues) {
      const idle = queue.waiting.length + queue.underWay + queue.unrecorded === 0;
      if (idle && now - queue.usedAt > REMEMBERED_MS) this.#queues.delete(webhookId);
    }
  }

  /** One of each queue, again and again, until none may begin. */
  #begin(): void {
    if (this.#closed) return;
    const now = performance.now();
    for (const [webhookId, queue] of this.#queues) {
      dropStale(queue, now);
      if (!this.#mayBegin(queue)) continue;
      this.#beginOne(queue);
      // To the end, where this loop comes by again.
      this.#queues.delete(webhookId);
      this.#queues.set(webhookId, queue);
    }
  }

  #mayBegin(queue: EndpointQueue): boolean {
    if (queue.waiting.length === 0 || queue.underWay >= this.#concurrency(queue)) return false;
    if (this.#underWay >= this.options.underWayMax) return false;
    if (queue.failing && this.#failingUnderWay >= this.options.underWayMax * FAILING_SHARE) return false;
    return this.#inPace(queue);
  }

  #concurrency({ window, settings: { maxConcurrency } }: EndpointQueue): number {
    const share = Math.max(1, Math.floor((this.options.underWayMax - this.#underWay) * SHARE));
    return Math.min(maxConcurrency, window, share);
  }

  #inPace(queue: EndpointQueue): boolean {
    if (queue.settings.maxPerSecond === null) return true;
    const wait = queue.paceAt - performance.now();
    if (wait <= 0) return true;
    queue.timer ??= setTimeout(() => {
      queue.timer = null;
      this.#begin();
    }, Math.ceil(wait));
    return false;
  }

  #beginOne(queue: EndpointQueue): void {
    const { delivery } = queue.waiting.shift()!;
    const now = performance.now();
    if (queue.settings.maxPerSecond !== null) {
      queue.paceAt = Math.max(queue.paceAt, now - CATCH_UP_MS) + 1_000 / queue.settings.maxPerSecond;
    }
    const { failing } = queue;
    queue.usedAt = now;
    queue.underWay += 1;
    this.#underWay += 1;
    if (failing) this.#failingUnderWay += 1;
    void this.options.send(delivery).then(async ({ accepted, recorded }) => {
      if (failing) this.#failingUnderWay -= 1;
      this.#underWay -= 1;
      queue.underWay -= 1;
      queue.unrecorded += 1;
      answered(queue, accepted);
      this.#begin();
      this.#askForMore(queue);
      await recorded;
      queue.unrecorded -= 1;
      this.#askForMore(queue);
    });
  }

  #askForMore(queue: EndpointQueue): void {
    if (queue.more && queue.waiting.length <= waitingMax(queue) / 2) this.options.onLow();
  }
}

/** Each request that is accepted lets one more be under way, up to the webhook's limit; one that is not halves them. */
function answered(queue: EndpointQueue, accepted: boolean): void {
  queue.usedAt = performance.now();
  queue.failing = !accepted;
  if (accepted) {
    queue.accepted += 1;
    queue.window = Math.min(queue.window + 1, queue.settings.maxConcurrency);
  } else queue.window = Math.max(1, Math.floor(queue.window / 2));
}

/** A moving average over about WAITING_MS. */
function rate(queue: EndpointQueue, now: number): void {
  const elapsed = now - queue.ratedAt;
  if (elapsed < WAITING_MS / 5) return;
  const weight = Math.min(1, elapsed / WAITING_MS);
  queue.rate += (queue.accepted / elapsed - queue.rate) * weight;
  queue.accepted = 0;
  queue.ratedAt = now;
}

function waitingMax({ failing, window, underWay, settings: { maxConcurrency }, rate }: EndpointQueue): number {
  // One request at a time tells whether it has recovered.
  if (failing) return Math.max(0, 1 - underWay);
  return Math.max(Math.min(window, maxConcurrency) - underWay, Math.ceil(rate * WAITING_MS));
}

function dropStale(queue: EndpointQueue, now: number): void {
  // The oldest comes first.
  while (queue.waiting.length > 0 && queue.waiting[0]!.claimedAt < now - FRESH_MS) queue.waiting.shift();
}
