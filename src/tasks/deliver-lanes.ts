import type { ClaimedDelivery, HeldDelivery, LaneRoom } from "../db/calls-deliveries.js";

export interface LanesOptions {
  /** Requests under way in this process at most. */
  underWayMax: number;
  /** Makes the request; resolves, with whether the receiver accepted it and when that is on record, once it is answered. Never rejects. */
  send(delivery: ClaimedDelivery): Promise<{ accepted: boolean; recorded: Promise<void> }>;
  /** Called when a lane runs low of which the database may have more. */
  onLow(): void;
}

/** Of the room that is left, this part may go to one webhook, so that those which hang, however many, leave room for the others. */
const SHARE = 1 / 8;
/** Of all requests, this part may go to webhooks that are failing. */
const FAILING_SHARE = 1 / 2;
/** Where nothing is known of a webhook, requests under way at first, and deliveries that are held. */
export const FIRST_WINDOW = 2;
/** What a webhook accepts in so long may wait for it, and no more than so many times what may be under way. */
const WAITING_MS = 100;
const WAITING_PER_WINDOW = 8;
/** What waited longer is given back, to be claimed again: its webhook may have been changed, disabled or deleted meanwhile. */
const FRESH_MS = 2_000;
/** How long it is remembered what an idle webhook keeps up with. */
const REMEMBERED_MS = 10_000;
/** A pace makes up for delays up to this. */
const CATCH_UP_MS = 50;

/** The deliveries to one webhook that this worker holds. */
interface Lane {
  settings: ClaimedDelivery;
  waiting: { delivery: ClaimedDelivery; claimedAt: number }[];
  underWay: number;
  /** Answered and not on record yet. */
  unrecorded: number;
  /** The latest attempt failed. */
  failing: boolean;
  /** Requests that may be under way, as far as the webhook has shown that it keeps up. */
  window: number;
  /** Requests it accepts per millisecond, lately; how many since that was last looked at, and when that was (ms, monotonic). */
  rate: number;
  accepted: number;
  ratedAt: number;
  usedAt: number;
  /** When the next request may begin, where the webhook has a limit per second (ms, monotonic). */
  paceAt: number;
  /** Runs until then. */
  timer: NodeJS.Timeout | null;
  /** The database may have more than the lane could hold. */
  more: boolean;
}

/**
 * Holds claimed deliveries, a lane for each webhook, and begins their requests as fast as the limits of each allow, in turn. How much of a
 * webhook is held follows from how much it accepts, so that what waits for webhooks that hang takes no room from others.
 */
export class Lanes {
  readonly #options: LanesOptions;
  /** In the order in which their turn comes. */
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;
  #failingUnderWay = 0;
  #closed = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Deliveries that wait for their request to begin. */
  *waiting(): Iterable<HeldDelivery> {
    for (const { waiting } of this.#lanes.values()) for (const { delivery } of waiting) yield delivery;
  }

  /** How much more of each webhook that is known may be held; of others FIRST_WINDOW. To be asked before a claim. */
  rooms(): LaneRoom[] {
    const now = performance.now();
    this.#forget(now);
    return [...this.#lanes].map(([webhookId, lane]) => {
      dropStale(lane, now);
      rate(lane, now);
      return { webhookId, room: Math.max(0, waitingMax(lane) - lane.waiting.length) };
    });
  }

  /** How many more webhooks that are failing may be tried. */
  failingRoom(): number {
    let held = 0;
    for (const lane of this.#lanes.values()) if (lane.failing) held += lane.underWay + lane.waiting.length;
    return Math.max(0, Math.floor(this.#options.underWayMax * FAILING_SHARE) - held);
  }

  /** Takes what was claimed for these rooms. `cut`: there was less room than that in all. */
  add(claimed: readonly ClaimedDelivery[], rooms: readonly LaneRoom[], cut: boolean): void {
    const claimedAt = performance.now();
    const counts = new Map<string, number>();
    for (const delivery of claimed) {
      const lane = this.#lane(delivery, claimedAt);
      lane.settings = delivery;
      lane.waiting.push({ delivery, claimedAt });
      counts.set(delivery.webhookId, (counts.get(delivery.webhookId) ?? 0) + 1);
    }
    // A lane that was not given what it had room for has all that there is.
    const asked = new Map([...counts.keys()].map((webhookId) => [webhookId, FIRST_WINDOW]));
    for (const { webhookId, room } of rooms) asked.set(webhookId, room);
    for (const [webhookId, room] of asked) {
      const lane = this.#lanes.get(webhookId);
      if (lane && (cut || room > 0)) lane.more = cut || (counts.get(webhookId) ?? 0) >= room;
    }
    this.#begin();
  }

  /** Begins nothing more; what waits is given back. */
  close(): void {
    this.#closed = true;
    for (const lane of this.#lanes.values()) {
      if (lane.timer) clearTimeout(lane.timer);
      lane.waiting = [];
    }
  }

  #lane(delivery: ClaimedDelivery, now: number): Lane {
    const known = this.#lanes.get(delivery.webhookId);
    if (known) return known;
    const lane: Lane = {
      settings: delivery,
      waiting: [],
      underWay: 0,
      unrecorded: 0,
      failing: delivery.failing,
      window: delivery.failing ? 1 : FIRST_WINDOW,
      rate: 0,
      accepted: 0,
      ratedAt: now,
      usedAt: now,
      paceAt: 0,
      timer: null,
      more: false,
    };
    this.#lanes.set(delivery.webhookId, lane);
    return lane;
  }

  #forget(now: number): void {
    for (const [webhookId, lane] of this.#lanes) {
      const idle = lane.waiting.length + lane.underWay + lane.unrecorded === 0;
      if (idle && now - lane.usedAt > REMEMBERED_MS) this.#lanes.delete(webhookId);
    }
  }

  /** One of each lane, again and again, until none may begin. */
  #begin(): void {
    if (this.#closed) return;
    const now = performance.now();
    for (const [webhookId, lane] of this.#lanes) {
      dropStale(lane, now);
      if (!this.#mayBegin(lane)) continue;
      this.#beginOne(lane);
      // To the end, where this loop comes by again.
      this.#lanes.delete(webhookId);
      this.#lanes.set(webhookId, lane);
    }
  }

  #mayBegin(lane: Lane): boolean {
    if (lane.waiting.length === 0 || lane.underWay >= this.#concurrency(lane)) return false;
    if (this.#underWay >= this.#options.underWayMax) return false;
    if (lane.failing && this.#failingUnderWay >= this.#options.underWayMax * FAILING_SHARE) return false;
    return this.#inPace(lane);
  }

  #concurrency({ window, settings: { maxConcurrency } }: Lane): number {
    const share = Math.max(1, Math.floor((this.#options.underWayMax - this.#underWay) * SHARE));
    return Math.min(maxConcurrency, window, share);
  }

  #inPace(lane: Lane): boolean {
    if (lane.settings.maxPerSecond === null) return true;
    const wait = lane.paceAt - performance.now();
    if (wait <= 0) return true;
    lane.timer ??= setTimeout(() => {
      lane.timer = null;
      this.#begin();
    }, Math.ceil(wait));
    return false;
  }

  #beginOne(lane: Lane): void {
    const { delivery } = lane.waiting.shift()!;
    const now = performance.now();
    if (lane.settings.maxPerSecond !== null) {
      lane.paceAt = Math.max(lane.paceAt, now - CATCH_UP_MS) + 1_000 / lane.settings.maxPerSecond;
    }
    const { failing } = lane;
    lane.usedAt = now;
    lane.underWay += 1;
    this.#underWay += 1;
    if (failing) this.#failingUnderWay += 1;
    void this.#options.send(delivery).then(async ({ accepted, recorded }) => {
      if (failing) this.#failingUnderWay -= 1;
      this.#underWay -= 1;
      lane.underWay -= 1;
      lane.unrecorded += 1;
      answered(lane, accepted);
      this.#begin();
      this.#askForMore(lane);
      await recorded;
      lane.unrecorded -= 1;
      this.#askForMore(lane);
    });
  }

  #askForMore(lane: Lane): void {
    if (lane.more && lane.waiting.length <= waitingMax(lane) / 2) this.#options.onLow();
  }
}

/** Each request that is accepted lets one more be under way, up to the webhook's limit; one that is not halves them. */
function answered(lane: Lane, accepted: boolean): void {
  lane.usedAt = performance.now();
  lane.failing = !accepted;
  if (accepted) {
    lane.accepted += 1;
    lane.window = Math.min(lane.window + 1, lane.settings.maxConcurrency);
  } else {
    lane.window = Math.max(1, Math.floor(lane.window / 2));
  }
}

/** A moving average over about WAITING_MS. */
function rate(lane: Lane, now: number): void {
  const elapsed = now - lane.ratedAt;
  if (elapsed < WAITING_MS / 5) return;
  const weight = Math.min(1, elapsed / WAITING_MS);
  lane.rate += (lane.accepted / elapsed - lane.rate) * weight;
  lane.accepted = 0;
  lane.ratedAt = now;
}

function waitingMax({ failing, window, underWay, settings: { maxConcurrency }, rate }: Lane): number {
  // One request at a time tells whether it has recovered.
  if (failing) return Math.max(0, 1 - underWay);
  const most = Math.min(window, maxConcurrency);
  return Math.min(WAITING_PER_WINDOW * most, Math.max(most - underWay, Math.ceil(rate * WAITING_MS)));
}

function dropStale(lane: Lane, now: number): void {
  // The oldest comes first.
  while (lane.waiting.length > 0 && lane.waiting[0]!.claimedAt < now - FRESH_MS) lane.waiting.shift();
}
