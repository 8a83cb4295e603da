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
import { createAgent } from "../../webhooks/agent.js";
import type { Resolve } from "../../webhooks/address.js";
import { sealingKey, secretOpener } from "../../webhooks/secret.js";
import { FIRST_WINDOW, EndpointQueues } from "./endpoint-queues.js";
import { AttemptRecorder } from "./recorder.js";
import { isDoneWithin, Wakeup } from "../wakeup.js";

export interface DelivererOptions {
  /** Uses at most two connections, and one more to listen. */
  sql: Sql;
  /** SVC_SECRET, with which the signing secrets are sealed. */
  secret: string;
  /** SVC_WEBHOOK_ALLOW_PRIVATE: allows requests to private and other special addresses. */
  allowPrivate: boolean;
  logger: Logger;
  /** Counts attempts. */
  counters?: WorkerCounters;
  /** Maximum of concurrent requests of this process. */
  underWayMax?: number;
  /** Time limit for a receiver's answer. */
  timeoutMs?: number;
  /** Interval of polling when no notification arrives. */
  pollMs?: number;
  /** How long `stop` waits for requests under way. */
  stopMs?: number;
  /** Resolves host names. */
  resolve?: Resolve;
}

const CHANNEL = "svc_deliveries";

const DEFAULTS = { underWayMax: 1024, timeoutMs: ATTEMPT_TIMEOUT_MS, pollMs: 1_000, stopMs: 20_000 };

/** Deliveries held per concurrent request: some wait, some are being recorded. */
const HELD_PER_REQUEST = 2;
/** While there is room, a claim asks for at least this many, so that claims stay few. */
const CLAIM_MIN = 16;
/** A claim that takes longer is followed by a pause. */
const SLOW_CLAIM_MS = 100;
const FAILED_CLAIM_WAIT_MS_MAX = 10_000;

/**
 * Delivers webhooks: claims due deliveries, slightly more than it can send at once, sends them, and records the attempts. No transaction is
 * open during a request. Wakes on notifications, and every second without one.
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
  /** Deliveries that were begun and are not recorded yet. */
  readonly #open = new Map<Promise<unknown>, HeldDelivery>();
  /** The last claim was limited by room: more deliveries may be due. */
  #mayHaveMore = false;
  #failedClaims = 0;
  #dropped = false;
  #reportedSealed = false;
  #stopping: Promise<void> | null = null;

  constructor(options: DelivererOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { sql, logger, secret, timeoutMs } = this.#options;
    this.#agent = createAgent(this.#options);
    this.#send = {
      agent: this.#agent,
      openSecret: secretOpener(sealingKey(secret)),
      onSealed: (error) => this.#reportSealed(error),
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

  /** Claims nothing more and waits until requests under way are recorded; after `stopMs` the rest is dropped, to be delivered again. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #run(): Promise<void> {
    while (this.#stopping === null) {
      const rooms = this.#queues.rooms();
      const held = [...this.#queues.waiting(), ...this.#open.values()];
      const room = HELD_PER_REQUEST * this.#options.underWayMax - held.length;
      // Half of the room, so that hanging webhooks, however many, leave room for the others.
      const total = Math.min(room, Math.max(CLAIM_MIN, Math.ceil(room / 2)));
      const begun = performance.now();
      const claimed = total > 0 ? await this.#claim(held, rooms, total) : null;
      if (this.#isStopping()) return;
      this.#mayHaveMore = total <= 0 || claimed?.length === total;
      this.#queues.add(claimed ?? [], rooms, this.#mayHaveMore);
      // Pause after a slow claim, so that looking for work does not overload the database.
      const took = performance.now() - begun;
      if (took > SLOW_CLAIM_MS) await delay(Math.min(took, this.#options.pollMs));
      // Fewer than asked for: nothing more is due, or the webhooks' queues are full, and a queue that runs low wakes this loop.
      const pauseMs = Math.min(this.#options.pollMs * 2 ** this.#failedClaims, FAILED_CLAIM_WAIT_MS_MAX);
      if (claimed?.length !== total) await this.#wakeup.sleep(pauseMs);
    }
  }

  #isStopping(): boolean {
    return this.#stopping !== null;
  }

  /** Null if the claim failed; the next round tries again. */
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

  /** Resolves once the receiver has answered. The delivery is held until the attempt is recorded. */
  async #begin(delivery: ClaimedDelivery): Promise<{ accepted: boolean; recorded: Promise<void> }> {
    const answered = attemptDelivery(delivery, this.#send);
    const recorded = answered.then(async (result) => {
      // An attempt that we aborted says nothing about its receiver.
      if (!this.#dropped) {
        this.#options.counters?.count(ATTEMPTS, [outcomeOf(result)]);
        await this.#recorder.record(result);
      }
      this.#open.delete(recorded);
      if (this.#mayHaveMore || this.#open.size === 0) this.#wakeup.call();
    });
    this.#open.set(recorded, delivery);
    const { statusCode } = await answered;
    return { accepted: isAccepted(statusCode), recorded };
  }

  /** Notifications only save time: without them deliveries wait for the next poll, so a failure here is not fatal. */
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
      this.#options.logger.debug({ err: error }, "the connection that listened for deliveries was lost");
    });
  }

  async #stop(): Promise<void> {
    this.#wakeup.call();
    const finish = async () => {
      // `#stopping` is set only when this awaits, and only then does the loop end.
      await this.#loop;
      this.#queues.close();
      await Promise.all([...this.#open.keys(), this.#unlisten()]);
      // Optional: saves other workers the time until the leases expire.
      await call(this.#options.sql, "release_webhooks", this.#workerId).catch((error: unknown) => {
        this.#options.logger.warn(
          { err: error },
          "the leases of webhooks could not be released; they expire by themselves",
        );
      });
    };
    if (await isDoneWithin(this.#options.stopMs, finish())) await this.#agent.close();
    else await this.#drop();
  }

  /** Only once, because every attempt of every such webhook fails in the same way. */
  #reportSealed(error: Error): void {
    if (this.#reportedSealed) return;
    this.#reportedSealed = true;
    this.#options.logger.error(
      { err: error },
      "secrets of webhooks were sealed with another SVC_SECRET, so nothing can be delivered to these webhooks: start with that SVC_SECRET, or rotate their secrets (`svc webhooks rotate-secret`)",
    );
  }

  async #drop(): Promise<void> {
    this.#dropped = true;
    this.#queues.close();
    const deliveries = this.#open.size;
    this.#options.logger.warn(
      { deliveries },
      "stopped before all deliveries had finished; other workers will repeat them",
    );
    this.#recorder.abandon();
    await this.#agent.destroy();
  }
}

function outcomeOf({ statusCode }: AttemptResult): string {
  if (statusCode === null) return "unanswered";
  return isAccepted(statusCode) ? "accepted" : "refused";
}
