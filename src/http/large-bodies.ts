import type { Context, Middleware, Next } from "koa";
import { Places } from "./admin/places.js";
import type { JsonBody } from "./body.js";
import { clientOf } from "./client-address.js";
import { ComputeThread } from "./compute/compute-thread.js";
import type { JobInput, JobName, JobOutput } from "./compute/jobs.js";
import { countJson, type JsonLimits } from "./json-limits.js";
import { PARSER_LIMITS, parseCounted, refusalOf } from "./parse-json.js";

/**
 * What the event loop reads by itself: some ten milliseconds of work at most. Ordinary requests are far below; a batch of a thousand events has
 * some ten thousand values.
 */
export const READ_AT_ONCE = { bytesMax: 512 * 1024, valuesMax: 50_000 };

const AT_ONCE: JsonLimits = { ...PARSER_LIMITS, valuesMax: READ_AT_ONCE.valuesMax };

/** Reads what a text says, and answers whether it did: not where that would hold up others for too long. */
export function atOnce(text: string, read: (value: unknown) => void): boolean {
  const { exceeded } = countJson(text, AT_ONCE);
  if (exceeded?.limit === "valuesMax") return false;
  if (exceeded !== null) throw refusalOf(exceeded, AT_ONCE);
  read(parseCounted(text));
  return true;
}

/** Reads bodies that take long in a thread, one at a time; clients take turns. What waits is memory, which the budget of bodies bounds. */
export class LargeBodies {
  readonly #thread = new ComputeThread();
  readonly #places = new Places({
    places: 1,
    waitingMax: 100,
    waitingEach: 8,
    waitMsMax: 20_000,
    reason: "Too many large bodies wait to be read.",
  });

  /** Does a job on a body, of which `inputOf` makes its input. Throws what that throws, and QueueFullError where too many wait. */
  run<Name extends JobName>(
    ctx: Context,
    name: Name,
    body: JsonBody,
    inputOf: (pieces: Uint8Array<ArrayBuffer>[]) => JobInput<Name>,
  ): Promise<JobOutput<Name>> {
    const pieces = typeof body === "string" ? [new TextEncoder().encode(body)] : body;
    const transfer = pieces.map(({ buffer }) => buffer);
    return this.#places.run(() => this.#thread.run(name, inputOf(pieces), { transfer }), clientOf(ctx));
  }
}

/** Gives every request the thread that reads large bodies. */
export function readLargeBodies(bodies = new LargeBodies()): Middleware {
  return (ctx: Context, next: Next) => {
    ctx.state["largeBodies"] = bodies;
    return next();
  };
}

/** What reads the large bodies of the request's application. */
export function largeBodies(ctx: Context): LargeBodies {
  return ctx.state["largeBodies"] as LargeBodies;
}
