import type { Context, Middleware, Next } from "koa";
import { clientNetwork, clientKey } from "./client-address.js";
import { ApiError } from "../errors.js";

/**
 * Limits the bytes of request bodies, or of answers, that the process holds at once, and so the memory that concurrent requests can use. A
 * credential may hold half of it, and a network three quarters, so that something is left for others.
 */
export class ByteBudget {
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(
    readonly bytesMax: number,
    private readonly words = { what: "request bodies", credential: "key" },
  ) {}

  /** Bytes currently held. */
  get held(): number {
    return this.#held;
  }

  /** Why a client cannot hold `bytes` more now; null if it can. */
  problem({ credential, network }: Client, bytes: number): string | null {
    const { what, credential: key } = this.words;
    if (this.#held + bytes > this.bytesMax) return `This process has used up its memory for ${what}.`;
    // No client holds more than the total.
    if (this.#held + bytes <= this.bytesMax / 2) return null;
    const held = (holder: string) => (this.#heldBy.get(holder) ?? 0) + bytes;
    if (held(credential) > this.bytesMax / 2)
      return `This ${key} has used up its share of the process's memory for ${what}.`;
    if (held(network) > (this.bytesMax * 3) / 4) {
      return `This IP address has used up its share of the process's memory for ${what}.`;
    }
    return null;
  }

  /** Adds `bytes`, which may be negative, to what a client holds. */
  change({ credential, network }: Client, bytes: number): void {
    this.#held += bytes;
    for (const holder of [credential, network]) {
      const held = (this.#heldBy.get(holder) ?? 0) + bytes;
      if (held === 0) this.#heldBy.delete(holder);
      else this.#heldBy.set(holder, held);
    }
  }
}

/** The holder of bytes. */
interface Client {
  /** A key, token or session; the network if there is none. Of answers, the organization. */
  credential: string;
  network: string;
}

/**
 * One request's part of the budget. It is returned when every holder of the body has released it: the request itself, and work that continues
 * after the request was answered.
 */
export class HeldBody {
  #cachedClient: Client | undefined;
  #bytes = 0;
  #holders = 1;

  constructor(
    private readonly budget: ByteBudget,
    private readonly ctx: Context,
  ) {}

  /** Determined when a body arrives, because most requests have none. */
  get #client(): Client {
    return (this.#cachedClient ??= {
      credential: `by ${clientKey(this.ctx)}`,
      network: `from ${clientNetwork(this.ctx)}`,
    });
  }

  /** Counts bytes that arrived. Throws SERVICE_UNAVAILABLE if they do not fit. */
  add(bytes: number): void {
    this.require(bytes);
    this.budget.change(this.#client, bytes);
    this.#bytes += bytes;
  }

  /** Throws SERVICE_UNAVAILABLE if `bytes` more do not fit now. */
  require(bytes: number): void {
    const reason = this.budget.problem(this.#client, bytes);
    if (reason !== null) throw new ApiError(503, "SERVICE_UNAVAILABLE", { reason });
  }

  /** Returns all counted bytes: nothing of the body is held any more. */
  drop(): void {
    if (this.#bytes > 0) this.budget.change(this.#client, -this.#bytes);
    this.#bytes = 0;
  }

  /** Adds a holder, which must release the body. */
  keep(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.drop();
  }
}

/** Gives every request its part of the budget, until it is answered or its client has disconnected. */
export function limitBodies(budget: ByteBudget): Middleware {
  return async (ctx: Context, next: Next) => {
    const held = new HeldBody(budget, ctx);
    ctx.state["body"] = held;
    try {
      await next();
    } finally {
      held.release();
    }
  };
}

/** The request's part of the budget; undefined in an application without one. */
export function heldBody(ctx: Context): HeldBody | undefined {
  return ctx.state["body"] as HeldBody | undefined;
}
