import type { Context, Middleware, Next } from "koa";
import { ApiError } from "./errors.js";

/** How many bytes of request bodies the process may hold at once: what a full machine of requests can take of its memory. */
export class BodyBudget {
  #held = 0;

  constructor(readonly bytesMax: number) {}

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** Whether so many more bytes fit now. */
  fits(bytes: number): boolean {
    return this.#held + bytes <= this.bytesMax;
  }

  take(bytes: number): void {
    this.#held += bytes;
  }

  giveBack(bytes: number): void {
    this.#held -= bytes;
  }
}

/**
 * One request's part of the budget. It is given back when everybody who held on to the body has released it: the request itself, and
 * whoever works on after the request was answered.
 */
export class HeldBody {
  #bytes = 0;
  #holders = 1;

  constructor(private readonly budget: BodyBudget) {}

  /** Counts bytes that arrived. Throws SERVICE_UNAVAILABLE where they do not fit. */
  add(bytes: number): void {
    this.require(bytes);
    this.budget.take(bytes);
    this.#bytes += bytes;
  }

  /** Throws SERVICE_UNAVAILABLE where so many more bytes do not fit now. */
  require(bytes: number): void {
    if (!this.budget.fits(bytes)) {
      throw new ApiError(503, "SERVICE_UNAVAILABLE", {
        reason: "This process holds as many bytes of requests as it may.",
      });
    }
  }

  /** Gives back what was counted: nothing of the body is held any more. */
  drop(): void {
    this.budget.giveBack(this.#bytes);
    this.#bytes = 0;
  }

  /** To be released once more. */
  keep(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.budget.giveBack(this.#bytes);
  }
}

/** Gives every request its part of the budget, until it is answered or its client has gone. */
export function limitBodies(budget: BodyBudget): Middleware {
  return async (ctx: Context, next: Next) => {
    const held = new HeldBody(budget);
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
