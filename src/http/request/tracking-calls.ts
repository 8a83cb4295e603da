/** The parts of Segment's tracking API that the service and the local engine share: paths, reading of calls, and answers. */
import type { Context } from "koa";
import { SINGLE_BYTES_MAX } from "../../ingestion/request.js";
import { ApiError, invalidField } from "../errors.js";
import { JSON_TEXT, readText } from "./body.js";
import { PARSER_LIMITS, parseJson, EVENT_LOOP_LIMITS } from "./parse-json.js";

/** The paths of Segment's tracking API, each with the type of its calls; calls of a batch have a type of their own. */
export const TRACKING_PATHS = [
  ["/v1/batch", null],
  ["/v1/track", "track"],
  ["/v1/identify", "identify"],
  ["/v1/group", "group"],
  ["/v1/page", "page"],
  ["/v1/screen", "screen"],
  ["/v1/alias", "alias"],
] as const;

export type CallType = (typeof TRACKING_PATHS)[number][1];

/** A call that was not stored. */
export interface RefusedCall {
  index: number;
  code: string;
  message: string;
}

/** Calls are mapped in the event loop, so a body may have only as many values as one that is parsed there. */
const LIMITS = { ...PARSER_LIMITS, valuesMax: EVENT_LOOP_LIMITS.valuesMax };

/** An SDK that compresses sends `application/x-www-form-urlencoded`. Accepting that is safe, because the key is in a header that no form sends. */
const JSON_OF_ANY_TYPE = { ...JSON_TEXT, type: /^/ };

/** Reads the calls of a request. Throws what `readText` and `parseJson` throw, and VALIDATION_ERROR. */
export async function readCalls(ctx: Context, type: CallType): Promise<unknown[]> {
  return callsOf(parseJson(await readText(ctx, JSON_OF_ANY_TYPE, SINGLE_BYTES_MAX), LIMITS), type);
}

/** Answers with the number of quarantined calls and the refused ones. Throws VALIDATION_ERROR for a call to the path of `alias`. */
export function answerCalls(ctx: Context, type: CallType, quarantined: number, refused: readonly RefusedCall[]): void {
  if (type === "alias") throw new ApiError(400, "VALIDATION_ERROR", { message: refused[0]!.message, field: "type" });
  ctx.status = 200;
  ctx.body = {
    success: true,
    quarantined: quarantined === 0 ? undefined : quarantined,
    refused: refused.length === 0 ? undefined : refused,
  };
}

/** The calls of a body; `sentAt` of a batch applies to each of its calls. */
function callsOf(body: unknown, type: CallType): unknown[] {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError(400, "VALIDATION_ERROR", { message: "The body must be a JSON object." });
  }
  if (type !== null) return [{ ...body, type }];
  const { batch, sentAt } = body as { batch?: unknown; sentAt?: unknown };
  if (!Array.isArray(batch)) {
    throw invalidField("batch", undefined, "`batch` must be an array.", 'Send {"batch": [ … ], "sentAt": …}.');
  }
  const isCall = (call: unknown) => typeof call === "object" && call !== null && !Array.isArray(call);
  return batch.map((call: unknown) => (sentAt !== undefined && isCall(call) ? { sentAt, ...(call as object) } : call));
}
