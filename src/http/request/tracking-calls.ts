/** What of Segment's tracking API is the same in the service and in the local engine: its paths, how calls are read, and the answers. */
import type { Context } from "koa";
import { SINGLE_BYTES_MAX } from "../../ingestion/request.js";
import { ApiError, invalidField } from "../errors.js";
import { readText } from "./body.js";
import { malformed, PARSER_LIMITS, parseJson, READ_AT_ONCE } from "./parse-json.js";

/** The paths of Segment's tracking API, each with the type of its calls; those of a batch say theirs. */
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

/** Mapping is done at once, so a body has as many values as one that is read at once. */
const LIMITS = { ...PARSER_LIMITS, valuesMax: READ_AT_ONCE.valuesMax };

/** An SDK that compresses says `application/x-www-form-urlencoded`, which is no matter: the key comes by a header that no form sends. */
const JSON_OF_ANY_TYPE = {
  type: /^/,
  unsupported: () => new ApiError(415, "UNSUPPORTED_MEDIA_TYPE"),
  malformed,
};

/** Reads the calls of a request. Throws what `readText` and `parseJson` throw, and VALIDATION_ERROR. */
export async function readCalls(ctx: Context, type: CallType): Promise<unknown[]> {
  return callsOf(parseJson(await readText(ctx, JSON_OF_ANY_TYPE, SINGLE_BYTES_MAX), LIMITS), type);
}

/** Answers how many calls are in quarantine and which were not stored. Throws VALIDATION_ERROR for an alias at its own path. */
export function answerCalls(ctx: Context, type: CallType, quarantined: number, refused: readonly RefusedCall[]): void {
  if (type === "alias") throw new ApiError(400, "VALIDATION_ERROR", { message: refused[0]!.message, field: "type" });
  ctx.status = 200;
  ctx.body = {
    success: true,
    quarantined: quarantined === 0 ? undefined : quarantined,
    refused: refused.length === 0 ? undefined : refused,
  };
}

/** The calls of a body, each with when it was sent, where the batch says it for all. */
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
