/** What of Segment's tracking API is the same in the service and in the local engine: its paths, and how calls are read. */
import { ApiError, invalidField } from "../errors.js";
import { malformed } from "./parse-json.js";

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

/** An SDK that compresses says `application/x-www-form-urlencoded`, which is no matter: the key comes by a header that no form sends. */
export const JSON_OF_ANY_TYPE = {
  type: /^/,
  unsupported: () => new ApiError(415, "UNSUPPORTED_MEDIA_TYPE"),
  malformed,
};

/** The calls of a request, each with when it was sent, where the batch says it for all. Throws VALIDATION_ERROR. */
export function callsOf(body: unknown, type: CallType): unknown[] {
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
