import type { Context } from "koa";
import type { ValidKey } from "../../db/api/ingestion.js";
import {
  BATCH_BYTES_MAX,
  SINGLE_BYTES_MAX,
  batchRequestProblem,
  singleRequestProblem,
} from "../../ingestion/request.js";
import { heldBody } from "../request/body-budget.js";
import { ClientGoneError, readJsonBody, readJsonText, type JsonBody } from "../request/body.js";
import { throwProblem, toApiError } from "../errors.js";
import { parsedInline, largeBodies } from "../request/large-bodies.js";
import { parseJson, EVENT_LOOP_LIMITS } from "../request/parse-json.js";
import { addToLogLine } from "../middleware/request-log.js";
import type { Route } from "../route.js";
import { TRACKING_PATHS } from "../request/tracking-calls.js";
import { acceptCalls } from "./tracking.js";
import { explainRefusal, ingestError, type IngestDeps, logWarnings, requireApiKey, showAllowance } from "./request.js";

/** POST /v1/events and POST /v1/events/batch, and the paths of Segment's tracking API. */
export function ingestRoutes(deps: IngestDeps): Route[] {
  const counted = (accept: (ctx: Context, deps: IngestDeps) => Promise<void>) => async (ctx: Context) => {
    try {
      await accept(ctx, deps);
      deps.disk?.written();
    } catch (error) {
      deps.disk?.failed(error);
      if (!(error instanceof ClientGoneError)) deps.outcomes?.refused(toApiError(error).code);
      throw error;
    }
  };
  return [
    { method: "POST", path: "/v1/events", handle: counted(acceptSingle) },
    { method: "POST", path: "/v1/events/batch", handle: counted(acceptBatch) },
    ...TRACKING_PATHS.map(([path, type]): Route => ({
      method: "POST",
      path,
      handle: counted((ctx, deps) => acceptCalls(ctx, deps, type)),
    })),
  ];
}

async function acceptSingle(ctx: Context, { backend, requireKey, log, outcomes }: IngestDeps): Promise<void> {
  const { holder, allowance } = await requireApiKey(ctx, requireKey);
  const text = await readJsonText(ctx, SINGLE_BYTES_MAX);
  throwProblem(singleRequestProblem(parseJson(text), text));
  const answer = await backend.single(holder, text, heldBody(ctx)).catch(explainRefusal(ctx, allowance));
  showAllowance(ctx, allowance, answer);
  const { outcome, warning } = answer;
  if (!("eventId" in outcome)) throw ingestError(outcome);
  outcomes?.accepted(1, outcome.duplicate ? 1 : 0);
  if (warning) logWarnings(log, ctx, { 0: warning });
  addToLogLine(ctx, { operations: 1 });
  ctx.status = 202;
  const { eventId, duplicate, quarantined } = outcome;
  ctx.body = { eventId, accepted: true, queued: true, duplicate, quarantined };
}

async function acceptBatch(ctx: Context, { backend, requireKey, log, outcomes }: IngestDeps): Promise<void> {
  const { holder, allowance } = await requireApiKey(ctx, requireKey);
  const body = await readBatch(ctx, allowance);
  const answer = await backend.batch(holder, body, heldBody(ctx)).catch(explainRefusal(ctx, allowance));
  showAllowance(ctx, allowance, answer);
  outcomes?.accepted(answer.accepted, answer.repeated);
  logWarnings(log, ctx, answer.warnings);
  addToLogLine(ctx, { operations: answer.accepted });
  ctx.status = 202;
  // JSON leaves out `quarantined` if it is undefined.
  const violations = Object.entries(answer.quarantined ?? {}).map(([index, violation]) => ({
    index: Number(index),
    ...violation,
  }));
  const quarantined = violations.length === 0 ? undefined : violations;
  ctx.body = { accepted: answer.accepted, rejected: 0, eventIds: answer.eventIds, quarantined };
}

/** Reads and validates a batch. */
async function readBatch(ctx: Context, { organizationId }: ValidKey): Promise<JsonBody> {
  const body = await readJsonBody(ctx, BATCH_BYTES_MAX, EVENT_LOOP_LIMITS.bytesMax);
  if (typeof body === "string" && parsedInline(body, (value) => throwProblem(batchRequestProblem(value, body))))
    return body;
  return largeBodies(ctx).run(organizationId, "checkBatch", body, (pieces) => pieces);
}
