import type { Context } from "koa";
import type { BatchAnswer } from "../../db/api/ingestion.js";
import { isBadValue } from "../../db/sqlstate.js";
import { elementOf, elementText, mapCall, type TrackingProblem, UNSTORABLE } from "../../ingestion/tracking.js";
import { BATCH_MAX } from "../../ingestion/shape.js";
import { ApiError } from "../errors.js";
import { noteInLog } from "../middleware/request-log.js";
import { heldBody } from "../request/body-budget.js";
import { basicUser } from "../request/credentials.js";
import { answerCalls, type CallType, readCalls, type RefusedCall } from "../request/tracking-calls.js";
import { explainRefusal, logWarnings, requireApiKey, showAllowance, type IngestDeps } from "./request.js";

/** What goes to the database of a call, as JSON, and its place in the request. */
interface PendingCall {
  index: number;
  text: string;
}

/** So many of the calls that a request loses are named in the log. */
const LOGGED_MAX = 10;

/**
 * Takes calls of the tracking API. SDKs do not come again after a 4xx, so no call is the reason to refuse another: what the model does not take
 * goes into quarantine, and what cannot be kept there is named in the answer.
 */
export async function acceptCalls(ctx: Context, deps: IngestDeps, type: CallType): Promise<void> {
  const { backend, requireKey, log, outcomes } = deps;
  const { holder, allowance } = await requireApiKey(ctx, requireKey, basicUser(ctx)).catch(sayBasic);
  const calls = await readCalls(ctx, type);
  const receivedAt = Date.now();
  const model = await backend.trackingModel(holder.keyHash);

  const refused: RefusedCall[] = [];
  const pending: PendingCall[] = [];
  for (const [index, call] of calls.entries()) {
    const mapped = mapCall(model, call, receivedAt);
    if (mapped.kind === "refused") refused.push(refusedCall(index, mapped.problem));
    const element = elementOf(mapped, call);
    if (element !== null) pending.push({ index, text: elementText(element, call) });
  }
  let held = heldBody(ctx);
  const send = (body: string): Promise<BatchAnswer> => {
    const ofFirst = held;
    held = undefined;
    return backend.batch(holder, body, ofFirst).catch(explainRefusal(ctx, allowance));
  };
  let quarantined = 0;
  for await (const { part, answer, error } of answersTo(pending, send)) {
    if (answer === undefined) {
      const { index } = part[0]!;
      log.error({ err: error, requestId: ctx.state["requestId"] as string, index }, "the database refused a call");
      refused.push(refusedCall(index, UNSTORABLE));
      continue;
    }
    showAllowance(ctx, allowance, answer);
    outcomes?.accepted(answer.accepted, answer.repeated);
    logWarnings(log, ctx, answer.warnings);
    quarantined += Object.keys(answer.quarantined ?? {}).length;
    for (const [position, { code, message = code }] of Object.entries(answer.failures)) {
      // A key that was used before says that the call was taken then.
      if (code !== "IDEMPOTENCY_CONFLICT") refused.push({ index: part[Number(position)]!.index, code, message });
    }
  }
  noteInLog(ctx, { operations: pending.length });
  logRefused(ctx, deps, refused);
  answerCalls(ctx, type, quarantined, refused);
}

/** Calls that were sent together, with the answer; or one with why the database refused it. */
interface Sent {
  part: readonly PendingCall[];
  answer?: BatchAnswer;
  error?: unknown;
}

/**
 * Sends calls in parts. One that the database refuses as data is halved until the call at fault is alone: no text of a sender is known to lead
 * there, so it may be a fault of ours. Throws what else goes wrong.
 */
async function* answersTo(
  pending: readonly PendingCall[],
  send: (body: string) => Promise<BatchAnswer>,
): AsyncGenerator<Sent> {
  const parts: (readonly PendingCall[])[] = [];
  for (let from = 0; from < pending.length; from += BATCH_MAX) parts.push(pending.slice(from, from + BATCH_MAX));
  // How many there are is limited before the first are accepted, and not again: their sender repeats all of them or none.
  let size = pending.length;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    try {
      const answer = await send(`{"calls":${size},"events":[${part.map(({ text }) => text).join(",")}]}`);
      size = 0;
      yield { part, answer };
    } catch (error) {
      if (!isBadValue(error)) throw error;
      const middle = part.length >> 1;
      if (middle === 0) yield { part, error };
      else parts.unshift(part.slice(0, middle), part.slice(middle));
    }
  }
}

function refusedCall(index: number, { code, message }: TrackingProblem): RefusedCall {
  return { index, code, message };
}

/** Which calls were refused and why, without a customer's data. */
function logRefused(ctx: Context, { log }: IngestDeps, refused: readonly RefusedCall[]): void {
  if (refused.length === 0) return;
  const calls = refused.slice(0, LOGGED_MAX).map(({ index, code }) => ({ index, code }));
  log.warn({ requestId: ctx.state["requestId"] as string, refused: refused.length, calls }, "calls were refused");
}

/** Elsewhere the key is a bearer token. */
function sayBasic(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 401) throw error;
  throw new ApiError(401, error.code, {
    fix: "Send the API key as the user name of Basic authentication, without a password.",
  });
}
