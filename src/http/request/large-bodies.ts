import type { Context, Middleware, Next } from "koa";
import { unusualNumbers } from "../../ingestion/unusual-numbers.js";
import { Semaphore } from "../semaphore.js";
import type { Bytes, JsonBody } from "./body.js";
import { ComputeThread } from "../compute/compute-thread.js";
import type { JobInput, JobName, JobOutput } from "../compute/jobs.js";
import { countJson, type JsonLimits } from "./json-limits.js";
import { PARSER_LIMITS, parseCounted, READ_AT_ONCE, limitRefusal } from "./parse-json.js";

const AT_ONCE: JsonLimits = { ...PARSER_LIMITS, valuesMax: READ_AT_ONCE.valuesMax };

/** Reads what a text says, and answers whether it did: not where that would hold up others for too long. */
export function atOnce(text: string, read: (value: unknown) => void): boolean {
  const { values, exceeded } = countJson(text, AT_ONCE);
  if (exceeded?.limit === "valuesMax") return false;
  if (exceeded !== null) throw limitRefusal(exceeded, AT_ONCE);
  if (values > READ_AT_ONCE.unusualNumbersMax && hasManyUnusualNumbers(text)) return false;
  read(parseCounted(text));
  return true;
}

function hasManyUnusualNumbers(text: string): boolean {
  const found = unusualNumbers(text);
  for (let count = 0; count <= READ_AT_ONCE.unusualNumbersMax; count++) if (found.next().done) return false;
  return true;
}

/** Reads bodies that take long in a thread, one at a time; organizations take turns. What waits is bounded by the budget of bodies. */
export class LargeBodies {
  readonly #thread = new ComputeThread();
  readonly #places = new Semaphore({
    places: 1,
    waitingMax: 100,
    each: 9,
    waitMsMax: 20_000,
    reason: "Too many large bodies wait to be read.",
  });

  /**
   * Does a job on a body, of which `inputOf` makes its input. Throws what that throws, and QueueFullError where too many wait, of the
   * organization or in all.
   */
  run<Name extends JobName>(
    organizationId: string,
    name: Name,
    body: JsonBody,
    inputOf: (pieces: Bytes) => JobInput<Name>,
  ): Promise<JobOutput<Name>> {
    const pieces = typeof body === "string" ? [new TextEncoder().encode(body)] : body;
    const transfer = pieces.map(({ buffer }) => buffer);
    return this.#places.run(() => this.#thread.run(name, inputOf(pieces), { transfer }), organizationId);
  }
}

/** Gives every request the thread that reads large bodies. */
export function readLargeBodies(): Middleware {
  const bodies = new LargeBodies();
  return (ctx: Context, next: Next) => {
    ctx.state["largeBodies"] = bodies;
    return next();
  };
}

/** What reads the large bodies of the request's application. */
export function largeBodies(ctx: Context): LargeBodies {
  return ctx.state["largeBodies"] as LargeBodies;
}
