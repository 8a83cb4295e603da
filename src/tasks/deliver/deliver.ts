import { randomBytes } from "node:crypto";
import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { ListenMeta, Sql } from "postgres";
import type { Agent } from "undici";
import { call } from "../../db/api/call.js";
import type { AttemptResult, ClaimedDelivery, HeldDelivery, QueueRoom } from "../../db/api/webhooks.js";
import { claimDeliveries } from "../../db/api/webhooks.js";
import { ATTEMPT_TIMEOUT_MS, attemptDelivery, isAccepted, type DeliveryOptions } from "../../webhooks/send.js";
import { ATTEMPTS, type WorkerCounters } from "../../metrics/worker-metrics.js";
import { createAgent, USER_AGENT } from "../../webhooks/agent.js";
import type { Resolve } from "../../webhooks/address.js";
import { sealingKey, secretOpener } from "../../webhooks/secret.js";
import { FIRST_WINDOW, EndpointQueues } from "./endpoint-queues.js";
import { AttemptRecorder } from "./recorder.js";
import { isDoneWithin, Wakeup } from "../wakeup.js";

export interface DelivererOptions {
  /** Two connections are in use at most, and one more listens. */
  sql: Sql;
  /** SVC_SECRET, which the signing secrets were sealed with. */
  secret: string;
  /** SVC_WEBHOOK_ALLOW_PRIVATE: special addresses may be reached. */
  allowPrivate: boolean;
  logger: Logger;
  /** Attempts are counted here. */
  counters?: WorkerCounters;
  /** Requests under way in this process at most. */
  underWayMax?: number;
  /** How long a receiver has to answer. */
  timeoutMs?: number;
  /** How often to look without having been called. */
  pollMs?: number;
  /** How long `stop` waits for what is under way. */
  stopMs?: number;
  /** How host names are resolved. */
  resolve?: Resolve;
}

const CHANNEL = "svc_deliveries";

const DEFAULTS = { underWayMax: 1024, timeoutMs: ATTEMPT_TIMEOUT_MS, pollMs: 1_000, stopMs: 20_000 };

/** How many deliveries are held for each request that may be under way: some wait, some are being recorded. */
const HELD_PER_REQUEST = 2;
/** Claims ask for no less than this while there is room, so that they stay few. */
const CLAIM_MIN = 16;
/** Claims that take longer are followed by a pause. */
const SLOW_CLAIM_MS = 100;
const FAILED_CLAIM_WAIT_MS_MAX = 10_000;

/**
 * Delivers webhooks: claims what is due, a little ahead of what may be under way, sends, records. No transaction is open during a request.
 * Woken by notifications, and by itself every second.
 */
export class Deliverer {
  readonly #options: DelivererOptions & typeof DEFAULTS;
  readonly #workerId = `${os.hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`;
  readonly #agent: Agent;
  readonly #send: DeliveryOptions;
  readonly #recorder: AttemptRecorder;
  readonly #wakeup = new Wakeup();
  readonly #listening: Promise<ListenMeta | null>;
  readonly #loop: Promise<void>;
  readonly #queues: EndpointQueues;
  /** Begun and not on record yet. */
  readonly #open = new Map<Promise<unknown>, HeldDelivery>();
  /** There may be more than there was room for. */
  #crowded = false;
  #idleWaiters: (() => void)[] = [];
  #failedClaims = 0;
  #dropped = false;
  #toldOfSealed = false;
  #stopping: Promise<void> | null = null;

  constructor(options: DelivererOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { sql, logger, secret, timeoutMs } = this.#options;
    this.#agent = createAgent(this.#options);
    this.#send = {
      agent: this.#agent,
      openSecret: secretOpener(sealingKey(secret)),
      onSealed: (error) => this.#tellOfSealed(error),
      userAgent: USER_AGENT,
      timeoutMs,
    };
    this.#recorder = new AttemptRecorder(sql, logger);
    this.#queues = new EndpointQueues({
      underWayMax: this.#options.underWayMax,
      send: (delivery) => this.#begin(delivery),
      onLow: () => this.#wakeup.call(),
    });
    this.#listening = this.#listen();
    this.#loop = this.#run();
  }

  /** Resolves once nothing is due, and all that was sent is on record. Retries that are due later are not waited for. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stopping !== null) void this.#stopping.then(resolve);
      else {
        this.#idleWaiters.push(resolve);
        this.#wakeup.call();
      }
    });
  }

  /** Takes nothing more, then waits for what is under way and its record; past `stopMs` it is dropped, to be delivered again. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #run(): Promise<void> {
    while (this.#stopping === null) {
      // Who asked before this claim is told what it finds; who asks during it is told by the next.
      const waiters = this.#idleWaiters.splice(0);
      const rooms = this.#queues.rooms();
      const held = [...this.#queues.waiting(), ...this.#open.values()];
      const room = HELD_PER_REQUEST * this.#options.underWayMax - held.length;
      // Half of it, so that webhooks which hang, however many, leave room for those that do not.
      const total = Math.min(room, Math.max(CLAIM_MIN, Math.ceil(room / 2)));
      const begun = performance.now();
      const claimed = total > 0 ? await this.#claim(held, rooms, total) : null;
      // Whoever stops takes nothing more.
      if (this.#isStopping()) return;
      this.#crowded = total <= 0 || claimed?.length === total;
      this.#queues.add(claimed ?? [], rooms, this.#crowded);
      if (held.length === 0 && claimed?.length === 0) for (const resolve of waiters) resolve();
      else this.#idleWaiters.unshift(...waiters);
      // A claim that took long is not followed by another at once, so that looking for work does not keep the database from it.
      const took = performance.now() - begun;
      if (took > SLOW_CLAIM_MS) await delay(Math.min(took, this.#options.pollMs));
      // Where fewer came than were asked for, no more is due, or its webhooks are full: a queue that runs low calls us.
      const pauseMs = Math.min(this.#options.pollMs * 2 ** this.#failedClaims, FAILED_CLAIM_WAIT_MS_MAX);
      if (claimed?.length !== total) await this.#wakeup.sleep(pauseMs);
    }
  }

  #isStopping(): boolean {
    return this.#stopping !== null;
  }

  /** Null where the database cannot be asked; the next round tries again. */
  async #claim(held: readonly HeldDelivery[], rooms: readonly QueueRoom[], total: number) {
    try {
      const claimed = await claimDeliveries(this.#options.sql, this.#workerId, {
        held,
        rooms,
        firstLimit: FIRST_WINDOW,
        total,
        failingTotal: this.#queues.failingRoom(),
      });
      this.#failedClaims = 0;
      return claimed;
    } catch (error) {
      this.#failedClaims += 1;
      this.#options.logger.warn({ err: error }, "deliveries could not be claimed; trying again");
      return null;
    }
  }

  /** Resolves once it is answered. The delivery stays held until that is on record. */
  async #begin(delivery: ClaimedDelivery): Promise<{ accepted: boolean; recorded: Promise<void> }> {
    const answered = attemptDelivery(delivery, this.#send);
    const recorded = answered.then(async (result) => {
      // An attempt that we broke off says nothing about its receiver.
      if (!this.#dropped) {
        this.#options.counters?.count(ATTEMPTS, [outcomeOf(result)]);
        await this.#recorder.record(result);
      }
      this.#open.delete(recorded);
      if (this.#crowded || this.#open.size === 0) this.#wakeup.call();
    });
    this.#open.set(recorded, delivery);
    const { statusCode } = await answered;
    return { accepted: isAccepted(statusCode), recorded };
  }

  /** Notifications are hints: without them deliveries wait for the next poll, so a failure here is not fatal. */
  async #listen(): Promise<ListenMeta | null> {
    const call = () => this.#wakeup.call();
    try {
      return await this.#options.sql.listen(CHANNEL, call, call);
    } catch (error) {
      this.#options.logger.warn({ err: error }, "cannot listen for new deliveries; polling instead");
      return null;
    }
  }

  async #unlisten(): Promise<void> {
    const listening = await this.#listening;
    await listening?.unlisten().catch((error: unknown) => {
      this.#options.logger.debug({ err: error }, "the connection that listened for deliveries is gone");
    });
  }

  async #stop(): Promise<void> {
    this.#wakeup.call();
    const finish = async () => {
      // `stop` has not returned yet when this begins; the loop must see it before it is waited for.
      await this.#loop;
      this.#queues.close();
      await Promise.all([...this.#open.keys(), this.#unlisten()]);
      // Only saves the others the time until the leases run out.
      await call(this.#options.sql, "release_webhooks", this.#workerId).catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, "the leases of webhooks could not be released; they expire");
      });
    };
    if (await isDoneWithin(this.#options.stopMs, finish())) await this.#agent.close();
    else await this.#drop();
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Once: every attempt of every webhook from before would say it. */
  #tellOfSealed(error: Error): void {
    if (this.#toldOfSealed) return;
    this.#toldOfSealed = true;
    this.#options.logger.error(
      { err: error },
      "secrets of webhooks were sealed with another SVC_SECRET, and nothing is delivered to these webhooks: start with that SVC_SECRET, or rotate their secrets (`svc webhooks rotate-secret`)",
    );
  }

  async #drop(): Promise<void> {
    this.#dropped = true;
    this.#queues.close();
    const deliveries = this.#open.size;
    this.#options.logger.warn({ deliveries }, "stopped before all deliveries had finished; other workers repeat them");
    this.#recorder.abandon();
    await this.#agent.destroy();
  }
}

function outcomeOf({ statusCode }: AttemptResult): string {
  if (statusCode === null) return "unanswered";
  return isAccepted(statusCode) ? "accepted" : "refused";
}
