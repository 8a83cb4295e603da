import type { Context } from "koa";
import type { BatchAnswer } from "../../db/api/ingestion.js";
import { isBadValue } from "../../db/sqlstate.js";
import { UNSTORABLE } from "../../ingestion/tracking.js";
import { BATCH_MAX } from "../../ingestion/shape.js";
import { ApiError } from "../errors.js";
import { addToLogLine } from "../middleware/request-log.js";
import { heldBody } from "../request/body-budget.js";
import { basicUser } from "../request/credentials.js";
import { countJson } from "../request/json-limits.js";
import { largeBodies } from "../request/large-bodies.js";
import { PARSER_LIMITS } from "../request/parse-json.js";
import {
  addRefusal,
  answerCalls,
  type CallType,
  readCallsText,
  type RefusedCalls,
  writeKeyIn,
} from "../request/tracking-calls.js";
import { type MappedCalls, type CallMapping, mapText } from "./map-calls.js";
import { explainRefusal, logWarnings, requireApiKey, showAllowance, type IngestDeps } from "./request.js";

/** An element of a batch for the database, as JSON, and the index of its call in the request. */
interface PendingCall {
  index: number;
  text: string;
}

/** The most refused calls of a request that the log lists. */
const LOGGED_MAX = 10;

/**
 * Accepts calls of the tracking API. SDKs do not retry after a 4xx, so a call is never refused because of another one: calls that do not fit the
 * model are quarantined, and those that cannot be quarantined are listed in the answer.
 */
export async function acceptCalls(ctx: Context, deps: IngestDeps, type: CallType): Promise<void> {
  const { backend, requireKey, log, outcomes } = deps;
  const check = (key: string | null) => requireApiKey(ctx, requireKey, key).catch(suggestBasic);
  // A key in the header is checked before the body is read.
  const inHeader = ctx.get("Authorization") === "" ? null : await check(basicUser(ctx));
  const text = await readCallsText(ctx);
  const { holder, allowance } = inHeader ?? (await check(writeKeyIn(text)));
  // By the database's clock, with which the instants are compared.
  const { model, now: receivedAt } = await backend.trackingModel(holder.keyHash);
  const { texts, indexes, refused } = await mapBody(ctx, holder.organizationId, text, { type, model, receivedAt });
  const pending = texts.map((element, position): PendingCall => ({ index: indexes[position]!, text: element }));
  let pendingHeld = heldBody(ctx);
  const send = (body: string): Promise<BatchAnswer> => {
    // Only the first call holds the body's part of the budget.
    const held = pendingHeld;
    pendingHeld = undefined;
    return backend.batch(holder, body, held).catch(explainRefusal(ctx, allowance));
  };
  let quarantined = 0;
  for await (const { part, answer, error } of answersTo(pending, send)) {
    if (answer === undefined) {
      const { index } = part[0]!;
      log.error({ err: error, requestId: ctx.state["requestId"] as string, index }, "the database refused a call");
      addRefusal(refused, index, UNSTORABLE);
      continue;
    }
    showAllowance(ctx, allowance, answer);
    outcomes?.accepted(answer.accepted, answer.repeated);
    logWarnings(log, ctx, answer.warnings);
    quarantined += Object.keys(answer.quarantined ?? {}).length;
    for (const [position, { code, message = code }] of Object.entries(answer.failures)) {
      // An idempotency key that was used before means that the call was already stored.
      if (code !== "IDEMPOTENCY_CONFLICT") addRefusal(refused, part[Number(position)]!.index, { code, message });
    }
  }
  addToLogLine(ctx, { operations: pending.length });
  logRefused(ctx, deps, refused);
  answerCalls(ctx, type, quarantined, refused);
}

/**
 * Up to so many values, calls are mapped in the event loop, within some 20 ms. A hundred calls, which SDKs send at once, have one to three
 * thousand. A value takes ten times as long to map as to parse: `{"batch":[{},…]}` of 75 KB, 127 bytes in gzip, took half a second.
 */
const AT_ONCE = { ...PARSER_LIMITS, valuesMax: 5_000 };

/**
 * Maps the calls of a body, in the thread for large bodies if there are many values. The elements are counted in the request's part of the budget
 * for bodies: a call of two bytes becomes an element of hundreds. Throws what `parseCalls` throws, and SERVICE_UNAVAILABLE if there is no room.
 */
async function mapBody(ctx: Context, organizationId: string, text: string, mapping: CallMapping): Promise<MappedCalls> {
  const mapped =
    countJson(text, AT_ONCE).exceeded?.limit === "valuesMax"
      ? await largeBodies(ctx).run(organizationId, "mapCalls", text, (pieces) => ({ ...mapping, pieces }))
      : mapText(text, mapping);
  heldBody(ctx)?.add(mapped.texts.reduce((sum, element) => sum + element.length, 0));
  return mapped;
}

/** Calls that were sent together, with the answer; or a single call with the error of the database. */
interface Sent {
  part: readonly PendingCall[];
  answer?: BatchAnswer;
  error?: unknown;
}

/**
 * Sends calls in parts. A part with data that the database refuses is halved until the call at fault is alone. No input is known to cause this,
 * so it may be a bug of the service. Throws all other errors.
 */
async function* answersTo(
  pending: readonly PendingCall[],
  send: (body: string) => Promise<BatchAnswer>,
): AsyncGenerator<Sent> {
  const parts: (readonly PendingCall[])[] = [];
  for (let from = 0; from < pending.length; from += BATCH_MAX) parts.push(pending.slice(from, from + BATCH_MAX));
  // The limits are checked for all calls with the first part, and not again, because the sender repeats all of them or none.
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

/** Logs which calls were refused and why, without customers' data. */
function logRefused(ctx: Context, { log }: IngestDeps, { count, first }: RefusedCalls): void {
  if (count === 0) return;
  const calls = first.slice(0, LOGGED_MAX).map(({ index, code }) => ({ index, code }));
  log.warn({ requestId: ctx.state["requestId"] as string, refused: count, calls }, "calls were refused");
}

/** Corrects the default fix, because elsewhere the key is a bearer token. */
function suggestBasic(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 401) throw error;
  throw new ApiError(401, error.code, {
    fix: "Send the API key as the user name of Basic authentication, without a password, or as `writeKey` in the body.",
  });
}
