import type { Context } from "koa";
import { elementOf, mapCall } from "../../ingestion/tracking.js";
import { BATCH_MAX } from "../../ingestion/shape.js";
import { ApiError } from "../errors.js";
import { noteInLog } from "../middleware/request-log.js";
import { heldBody } from "../request/body-budget.js";
import { basicUser } from "../request/credentials.js";
import { answerCalls, type CallType, readCalls, type RefusedCall } from "../request/tracking-calls.js";
import { explainRefusal, logWarnings, requireApiKey, showAllowance, type IngestDeps } from "./request.js";

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
  const elements: { index: number; text: string }[] = [];
  for (const [index, call] of calls.entries()) {
    const mapped = mapCall(model, call, receivedAt);
    if (mapped.kind === "refused") refused.push({ index, code: mapped.problem.code, message: mapped.problem.message });
    const element = elementOf(mapped, call);
    if (element !== null) elements.push({ index, text: JSON.stringify({ ...element, call }) });
  }
  let quarantined = 0;
  for (let from = 0; from < elements.length; from += BATCH_MAX) {
    const part = elements.slice(from, from + BATCH_MAX);
    const body = `{"calls":true,"events":[${part.map(({ text }) => text).join(",")}]}`;
    const held = from === 0 ? heldBody(ctx) : undefined;
    const answer = await backend.batch(holder, body, held).catch(explainRefusal(ctx, allowance));
    showAllowance(ctx, allowance, answer);
    outcomes?.accepted(answer.accepted, answer.repeated);
    logWarnings(log, ctx, answer.warnings);
    quarantined += Object.keys(answer.quarantined ?? {}).length;
    for (const [position, { code, message = code }] of Object.entries(answer.failures)) {
      // A key that was used before says that the call was taken then.
      if (code !== "IDEMPOTENCY_CONFLICT") refused.push({ index: part[Number(position)]!.index, code, message });
    }
  }
  noteInLog(ctx, { operations: elements.length });
  if (refused.length > 0)
    log.warn({ requestId: ctx.state["requestId"] as string, refused: refused.length }, "calls were refused");
  answerCalls(ctx, type, quarantined, refused);
}

/** Elsewhere the key is a bearer token. */
function sayBasic(error: unknown): never {
  if (!(error instanceof ApiError) || error.status !== 401) throw error;
  throw new ApiError(401, error.code, {
    fix: "Send the API key as the user name of Basic authentication, without a password.",
  });
}
