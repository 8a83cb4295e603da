import type { Context, Middleware, Next } from "koa";
import { clientNetwork, clientOf } from "./client-address.js";
import { ApiError } from "../errors.js";

/**
 * How many bytes of request bodies the process may hold at once: what a full machine of requests can take of its memory. A credential may hold
 * half of it, and an address three quarters, so that nobody else has to do without.
 */
export class BodyBudget {
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(readonly bytesMax: number) {}

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** What keeps a client from holding so many more bytes now; null where nothing does. */
  problem({ credential, network }: Client, bytes: number): string | null {
    if (this.#held + bytes > this.bytesMax) return "This process has used up its memory for request bodies.";
    // Nobody holds more than all together.
    if (this.#held + bytes <= this.bytesMax / 2) return null;
    const held = (of: string) => (this.#heldBy.get(of) ?? 0) + bytes;
    if (held(credential) > this.bytesMax / 2)
      return "This key has used up its share of the process's memory for request bodies.";
    if (held(network) > (this.bytesMax * 3) / 4) {
      return "This IP address has used up its share of the process's memory for request bodies.";
    }
    return null;
  }

  /** Has a client hold so many bytes more, or less. */
  change({ credential, network }: Client, bytes: number): void {
    this.#held += bytes;
    for (const of of [credential, network]) {
      const held = (this.#heldBy.get(of) ?? 0) + bytes;
      if (held === 0) this.#heldBy.delete(of);
      else this.#heldBy.set(of, held);
    }
  }
}

/** Whose bytes are held. */
interface Client {
  /** A key, token or session; the network where there is none. */
  credential: string;
  network: string;
}

/**
 * One request's part of the budget. It is given back when everybody who held on to the body has released it: the request itself, and
 * whoever works on after the request was answered.
 */
export class HeldBody {
  #known: Client | undefined;
  #bytes = 0;
  #holders = 1;

  constructor(
    private readonly budget: BodyBudget,
    private readonly ctx: Context,
  ) {}

  /** Most requests have no body, so it is looked at when one arrives. */
  get #client(): Client {
    return (this.#known ??= { credential: `by ${clientOf(this.ctx)}`, network: `from ${clientNetwork(this.ctx)}` });
  }

  /** Counts bytes that arrived. Throws SERVICE_UNAVAILABLE where they do not fit. */
  add(bytes: number): void {
    this.require(bytes);
    this.budget.change(this.#client, bytes);
    this.#bytes += bytes;
  }

  /** Throws SERVICE_UNAVAILABLE where so many more bytes do not fit now. */
  require(bytes: number): void {
    const reason = this.budget.problem(this.#client, bytes);
    if (reason !== null) throw new ApiError(503, "SERVICE_UNAVAILABLE", { reason });
  }

  /** Gives back what was counted: nothing of the body is held any more. */
  drop(): void {
    if (this.#bytes > 0) this.budget.change(this.#client, -this.#bytes);
    this.#bytes = 0;
  }

  /** To be released once more. */
  keep(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.drop();
  }
}

/** Gives every request its part of the budget, until it is answered or its client has gone. */
export function limitBodies(budget: BodyBudget): Middleware {
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
