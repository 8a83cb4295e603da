import type { ClaimedDelivery, HeldDelivery, QueueRoom } from "../../db/api/webhooks.js";

interface EndpointQueuesOptions {
  /** Maximum of concurrent requests of this process. */
  underWayMax: number;
  /** Makes the request. Resolves once it is answered: `accepted` by the receiver or not; `recorded` resolves once it is recorded. Never rejects. */
  send(delivery: ClaimedDelivery): Promise<{ accepted: boolean; recorded: Promise<void> }>;
  /** Called when a queue runs low for which the database may have more. */
  onLow(): void;
}

/** One webhook gets at most this share of the free requests, so that hanging webhooks, however many, leave room for the others. */
const SHARE = 1 / 8;
/** All failing and slow webhooks together get at most this share of the requests. */
const HINDERING_SHARE = 1 / 2;
/** A webhook whose answer takes longer counts as slow: a few thousand of them would hold all requests although each accepts what it gets. */
const SLOW_MS = 1_000;
/** How long a webhook counts as slow after such an answer; longer than receivers that are slow by turns can wait for. */
const SLOW_FOR_MS = 10 * 60_000;
/** For a webhook that this worker does not know yet: the initial limit of concurrent requests, and of deliveries held. */
export const FIRST_WINDOW = 2;
/** A webhook's queue holds as much as it accepts in this time. */
const WAITING_MS = 100;
/** A delivery that waited longer is given up, to be claimed again: its webhook may have been changed, disabled or deleted meanwhile. */
const FRESH_MS = 2_000;
/** How long the measured capacity of an idle webhook is remembered. */
const REMEMBERED_MS = 10_000;
/** Pacing catches up on delays of at most this. */
const CATCH_UP_MS = 50;

/** Not the whole delivery, whose body would be kept for as long as its webhook is remembered. */
type Settings = Pick<ClaimedDelivery, "maxConcurrency" | "maxPerSecond">;

/** The deliveries to one webhook that this worker holds. */
class EndpointQueue {
  waiting: { delivery: ClaimedDelivery; claimedAt: number }[] = [];
  underWay = 0;
  /** Requests that were answered and are not recorded yet. */
  unrecorded = 0;
  /** The latest attempt failed. */
  failing: boolean;
  /** Until when it counts as slow (ms, monotonic). */
  slowUntil = -Infinity;
  /** Limit of concurrent requests, which grows while the webhook keeps up. */
  window: number;
  /** Recently accepted requests per millisecond; the requests accepted since that was computed, and when it was (ms, monotonic). */
  rate = 0;
  accepted = 0;
  ratedAt: number;
  usedAt: number;
  /** When the next request may begin, if the webhook has a limit per second (ms, monotonic). */
  paceAt = 0;
  /** Fires at `paceAt`. */
  timer: NodeJS.Timeout | null = null;
  /** The database may have more deliveries than the queue had room for. */
  more = false;

  /** @param settings of the webhook, from its latest delivery @param now (ms, monotonic) */
  constructor(
    public settings: Settings,
    failing: boolean,
    now: number,
  ) {
    this.failing = failing;
    this.window = this.failing ? 1 : FIRST_WINDOW;
    this.ratedAt = now;
    this.usedAt = now;
  }
}

/**
 * Holds claimed deliveries, a queue for each webhook, and begins their requests in turn, as fast as each webhook's limits allow. A queue's
 * capacity follows from how much its webhook accepts, so that deliveries to hanging webhooks take no room from others.
 */
export class EndpointQueues {
  /** By webhook, in the order of their turns. */
  readonly #queues = new Map<string, EndpointQueue>();
  #underWay = 0;
  /** Of webhooks that were failing or slow when the request began. */
  #hinderingUnderWay = 0;
  #closed = false;

  constructor(private readonly options: EndpointQueuesOptions) {}

  /** Deliveries whose request has not begun. */
  *waiting(): Iterable<HeldDelivery> {
    for (const { waiting } of this.#queues.values()) for (const { delivery } of waiting) yield delivery;
  }

  /** How many more deliveries each known webhook's queue can hold; other webhooks have room for FIRST_WINDOW. To be called before a claim. */
  rooms(): QueueRoom[] {
    const now = performance.now();
    this.#forget(now);
    for (const queue of this.#queues.values()) {
      dropStale(queue, now);
      rate(queue, now);
    }
    let slowRoom = this.#hinderingRoom(now);
    return [...this.#queues].map(([webhookId, queue]) => {
      const room = Math.max(0, waitingMax(queue) - queue.waiting.length);
      // A claim limits failing webhooks together, by `failingRoom`.
      if (queue.failing || !isHindering(queue, now)) return { webhookId, room };
      const some = Math.min(room, slowRoom);
      slowRoom -= some;
      return { webhookId, room: some };
    });
  }

  /** How many more deliveries to failing webhooks may be held. */
  failingRoom(): number {
    return this.#hinderingRoom(performance.now());
  }

  #hinderingRoom(now: number): number {
    let held = 0;
    for (const queue of this.#queues.values())
      if (isHindering(queue, now)) held += queue.underWay + queue.waiting.length;
    return Math.max(0, Math.floor(this.options.underWayMax * HINDERING_SHARE) - held);
  }

  /** Adds what was claimed for these rooms. `cut`: the claim was limited by the total room, so more may be due for any webhook. */
  add(claimed: readonly ClaimedDelivery[], rooms: readonly QueueRoom[], cut: boolean): void {
    const claimedAt = performance.now();
    const counts = new Map<string, number>();
    for (const delivery of claimed) {
      const { maxConcurrency, maxPerSecond, failing } = delivery;
      const settings = { maxConcurrency, maxPerSecond };
      const queue = this.#queues.get(delivery.webhookId) ?? new EndpointQueue(settings, failing, claimedAt);
      this.#queues.set(delivery.webhookId, queue);
      queue.settings = settings;
      queue.waiting.push({ delivery, claimedAt });
      counts.set(delivery.webhookId, (counts.get(delivery.webhookId) ?? 0) + 1);
    }
    // A queue that got less than it had room for has all that is due.
    const asked = new Map([...counts.keys()].map((webhookId) => [webhookId, FIRST_WINDOW]));
    for (const { webhookId, room } of rooms) asked.set(webhookId, room);
    for (const [webhookId, room] of asked) {
      const queue = this.#queues.get(webhookId);
      if (queue && (cut || room > 0)) queue.more = cut || (counts.get(webhookId) ?? 0) >= room;
    }
    this.#begin();
  }

  /** Begins nothing more and gives up what waits. */
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
      if (idle && now - queue.usedAt > REMEMBERED_MS && now >= queue.slowUntil) this.#queues.delete(webhookId);
    }
  }

  /** Begins one request of each queue in turn until no queue may begin another. */
  #begin(): void {
    if (this.#closed) return;
    const now = performance.now();
    for (const [webhookId, queue] of this.#queues) {
      dropStale(queue, now);
      if (!this.#mayBegin(queue, now)) continue;
      this.#beginOne(queue);
      // Moved to the end of the map, which this loop reaches again.
      this.#queues.delete(webhookId);
      this.#queues.set(webhookId, queue);
    }
  }

  #mayBegin(queue: EndpointQueue, now: number): boolean {
    if (queue.waiting.length === 0 || queue.underWay >= this.#concurrency(queue)) return false;
    if (this.#underWay >= this.options.underWayMax) return false;
    if (isHindering(queue, now) && this.#hinderingUnderWay >= this.options.underWayMax * HINDERING_SHARE) return false;
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
    const hindering = isHindering(queue, now);
    queue.usedAt = now;
    queue.underWay += 1;
    this.#underWay += 1;
    if (hindering) this.#hinderingUnderWay += 1;
    void this.options.send(delivery).then(async ({ accepted, recorded }) => {
      if (hindering) this.#hinderingUnderWay -= 1;
      this.#underWay -= 1;
      queue.underWay -= 1;
      queue.unrecorded += 1;
      answered(queue, accepted, now);
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

/** Whether its requests may hold places for long. */
function isHindering({ failing, slowUntil }: EndpointQueue, now: number): boolean {
  return failing || now < slowUntil;
}

/** An accepted request widens the window by one, up to the webhook's limit; any other halves it. @param begunAt (ms, monotonic) */
function answered(queue: EndpointQueue, accepted: boolean, begunAt: number): void {
  queue.usedAt = performance.now();
  if (queue.usedAt - begunAt > SLOW_MS) queue.slowUntil = queue.usedAt + SLOW_FOR_MS;
  queue.failing = !accepted;
  if (accepted) {
    queue.accepted += 1;
    queue.window = Math.min(queue.window + 1, queue.settings.maxConcurrency);
  } else queue.window = Math.max(1, Math.floor(queue.window / 2));
}

/** Updates the rate: a moving average over about WAITING_MS. */
function rate(queue: EndpointQueue, now: number): void {
  const elapsed = now - queue.ratedAt;
  if (elapsed < WAITING_MS / 5) return;
  const weight = Math.min(1, elapsed / WAITING_MS);
  queue.rate += (queue.accepted / elapsed - queue.rate) * weight;
  queue.accepted = 0;
  queue.ratedAt = now;
}

function waitingMax({ failing, window, underWay, settings: { maxConcurrency }, rate }: EndpointQueue): number {
  // One request at a time shows whether the webhook has recovered.
  if (failing) return Math.max(0, 1 - underWay);
  return Math.max(Math.min(window, maxConcurrency) - underWay, Math.ceil(rate * WAITING_MS));
}

function dropStale(queue: EndpointQueue, now: number): void {
  // The oldest comes first.
  while (queue.waiting.length > 0 && queue.waiting[0]!.claimedAt < now - FRESH_MS) queue.waiting.shift();
}
