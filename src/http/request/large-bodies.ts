import type { Context, Middleware, Next } from "koa";
import { unusualNumbers } from "../../ingestion/unusual-numbers.js";
import { Semaphore } from "../semaphore.js";
import type { Bytes, JsonBody } from "./body.js";
import { ComputeThread } from "../compute/compute-thread.js";
import type { JobInput, JobName, JobOutput } from "../compute/jobs.js";
import { countJson, type JsonLimits } from "./json-limits.js";
import { PARSER_LIMITS, parseChecked, EVENT_LOOP_LIMITS, limitRefusal } from "./parse-json.js";

const AT_ONCE: JsonLimits = { ...PARSER_LIMITS, valuesMax: EVENT_LOOP_LIMITS.valuesMax };

/** Parses a text, passes its value to `read` and returns true; returns false if that would block the event loop for too long. */
export function parsedInline(text: string, read: (value: unknown) => void): boolean {
  const { values, exceeded } = countJson(text, AT_ONCE);
  if (exceeded?.limit === "valuesMax") return false;
  if (exceeded !== null) throw limitRefusal(exceeded, AT_ONCE);
  if (values > EVENT_LOOP_LIMITS.unusualNumbersMax && hasManyUnusualNumbers(text)) return false;
  read(parseChecked(text));
  return true;
}

function hasManyUnusualNumbers(text: string): boolean {
  const numbers = unusualNumbers(text);
  for (let count = 0; count <= EVENT_LOOP_LIMITS.unusualNumbersMax; count++) if (numbers.next().done) return false;
  return true;
}

/** Reads large bodies in a thread, one at a time; organizations take turns. The budget for bodies bounds the memory of those that wait. */
export class LargeBodies {
  readonly #thread = new ComputeThread();
  readonly #places = new Semaphore({
    places: 1,
    waitingMax: 100,
    each: 9,
    waitMsMax: 20_000,
    reason: "Too many large bodies are waiting to be read.",
  });

  /**
   * Runs a job on a body, from which `inputOf` makes the job's input. Throws what the job throws, and QueueFullError if too many bodies wait,
   * in total or of the organization.
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

/** The reader of large bodies of the request's application. */
export function largeBodies(ctx: Context): LargeBodies {
  return ctx.state["largeBodies"] as LargeBodies;
}
