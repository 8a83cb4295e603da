import { randomBytes } from "node:crypto";
import os from "node:os";
import type { Logger } from "pino";
import type { ListenMeta, Sql } from "postgres";
import type { Agent } from "undici";
import { claimDeliveries, type ClaimedDelivery } from "../db/calls-deliveries.js";
import { createAgent } from "../webhooks/agent.js";
import type { Resolve } from "../webhooks/resolve.js";
import { sealingKey } from "../webhooks/secret.js";
import { attemptDelivery, type SendOptions } from "../webhooks/send.js";
import { USER_AGENT } from "../webhooks/user-agent.js";
import { AttemptRecorder } from "./deliver-recorder.js";
import { Wakeup } from "./deliver-wakeup.js";

export interface DelivererOptions {
  /** Two connections are in use at most, and one more listens. */
  sql: Sql;
  /** SVC_SECRET, which the signing secrets were sealed with. */
  secret: string;
  /** SVC_WEBHOOK_ALLOW_PRIVATE: special addresses may be reached. */
  allowPrivate: boolean;
  logger: Logger;
  /** Deliveries under way in this process at most. */
  totalMax?: number;
  /** Deliveries under way at one endpoint at most, over all processes. */
  perEndpointMax?: number;
  /** How long a receiver has to answer. */
  timeoutMs?: number;
  /** How often to look without having been called. */
  pollMs?: number;
  /** How long `stop` waits for what is under way. */
  stopMs?: number;
  /** How host names are resolved. */
  resolve?: Resolve;
}

export interface Deliverer {
  /** Resolves once nothing is due, and all that was sent is on record. Retries that are due later are not waited for. */
  idle(): Promise<void>;
  /** Takes nothing more, then waits for what is under way and its record; past `stopMs` it is dropped, to be delivered again. */
  stop(): Promise<void>;
}

const CHANNEL = "svc_deliveries";

const DEFAULTS = { totalMax: 256, perEndpointMax: 10, timeoutMs: 15_000, pollMs: 1_000, stopMs: 20_000 };

/** Claims ask for no less than this while there is room, so that they stay few. */
const CLAIM_MIN = 16;
/** Of the room that is left, this part may go to one endpoint. */
const ENDPOINT_SHARE = 1 / 8;
const FAILED_CLAIM_WAIT_MS_MAX = 10_000;

/**
 * Starts to deliver webhooks: claims what is due while there is room, sends, records. No transaction is open during a request.
 * Woken by notifications, and by itself every second.
 */
export function startDeliverer(options: DelivererOptions): Deliverer {
  return new Pump(options);
}

class Pump implements Deliverer {
  readonly #options: DelivererOptions & typeof DEFAULTS;
  readonly #workerId = `${os.hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`;
  readonly #agent: Agent;
  readonly #send: SendOptions;
  readonly #recorder: AttemptRecorder;
  readonly #wakeup = new Wakeup();
  readonly #listening: Promise<ListenMeta | null>;
  readonly #loop: Promise<void>;
  /** Sent and not on record yet. */
  readonly #open = new Set<Promise<void>>();
  #idleWaiters: (() => void)[] = [];
  #failedClaims = 0;
  #dropped = false;
  #stopping: Promise<void> | null = null;

  constructor(options: DelivererOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { sql, logger, secret, timeoutMs } = this.#options;
    this.#agent = createAgent(this.#options);
    this.#send = { agent: this.#agent, key: sealingKey(secret), userAgent: USER_AGENT, timeoutMs };
    this.#recorder = new AttemptRecorder(sql, logger);
    this.#listening = this.#listen();
    this.#loop = this.#run();
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stopping !== null) void this.#stopping.then(resolve);
      else {
        this.#idleWaiters.push(resolve);
        this.#wakeup.call();
      }
    });
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #run(): Promise<void> {
    while (this.#stopping === null) {
      // Who asked before this claim is told what it finds; who asks during it is told by the next.
      const waiters = this.#idleWaiters.splice(0);
      // What is under way now may fill its endpoint, and be on record by the time the claim answers.
      const quiet = this.#open.size === 0;
      const asked = this.#room();
      const claimed = asked.total > 0 ? await this.#claim(asked) : null;
      for (const delivery of claimed ?? []) this.#start(delivery);
      if (quiet && claimed?.length === 0) for (const resolve of waiters) resolve();
      else this.#idleWaiters.unshift(...waiters);
      // Where fewer came than were asked for, no more is due, or its endpoints are busy: a record of theirs calls us.
      if (claimed === null || claimed.length < asked.total) await this.#wakeup.sleep(this.#sleepMs());
    }
  }

  /**
   * What to ask for. An endpoint's share shrinks with the room that is left, and a claim asks for half of that room, so that
   * endpoints which hang, however many, leave room for those that do not.
   */
  #room(): { perEndpoint: number; total: number } {
    const room = this.#options.totalMax - this.#open.size;
    return {
      perEndpoint: Math.max(1, Math.min(this.#options.perEndpointMax, Math.floor(room * ENDPOINT_SHARE))),
      total: Math.min(room, Math.max(CLAIM_MIN, Math.ceil(room / 2))),
    };
  }

  /** Null where the database cannot be asked; the next round tries again. */
  async #claim(asked: { perEndpoint: number; total: number }): Promise<ClaimedDelivery[] | null> {
    try {
      const claimed = await claimDeliveries(this.#options.sql, this.#workerId, asked.perEndpoint, asked.total);
      this.#failedClaims = 0;
      return claimed;
    } catch (error) {
      this.#failedClaims += 1;
      this.#options.logger.warn({ err: error }, "deliveries could not be claimed; trying again");
      return null;
    }
  }

  #sleepMs(): number {
    return Math.min(this.#options.pollMs * 2 ** this.#failedClaims, FAILED_CLAIM_WAIT_MS_MAX);
  }

  #start(delivery: ClaimedDelivery): void {
    const work = this.#deliver(delivery).finally(() => {
      this.#open.delete(work);
      this.#wakeup.call();
    });
    this.#open.add(work);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const result = await attemptDelivery(delivery, this.#send);
    // An attempt that we broke off says nothing about its receiver.
    if (!this.#dropped) await this.#recorder.record(result);
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
      await Promise.all([...this.#open, this.#unlisten()]);
    };
    if (await within(this.#options.stopMs, finish())) await this.#agent.close();
    else await this.#drop();
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  async #drop(): Promise<void> {
    this.#dropped = true;
    this.#options.logger.warn(
      { deliveries: this.#open.size },
      "stopped with deliveries under way; they will be made again",
    );
    this.#recorder.abandon();
    await this.#agent.destroy();
  }
}

/** Whether the work was done in time. */
async function within(milliseconds: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, milliseconds, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
