/** The parts of Segment's tracking API that the service and the local engine share: paths, reading of calls, and answers. */
import type { Context } from "koa";
import { SINGLE_BYTES_MAX } from "../../ingestion/request.js";
import { CHARACTERS_MAX } from "../../ingestion/shape.js";
import { findBadLiteral } from "../../ingestion/literals.js";
import { timestampProblem } from "../../ingestion/timestamp.js";
import { ApiError, type DocsUrl, invalidField, renderError } from "../errors.js";
import { JSON_TEXT, readText } from "./body.js";
import { PARSER_LIMITS, parseJson, EVENT_LOOP_LIMITS } from "./parse-json.js";
import { isObject } from "../../words/text.js";

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

/** The calls of a request that were not stored: how many, and the first of them, which the answer lists. */
export interface RefusedCalls {
  count: number;
  first: RefusedCall[];
}

/** The most refused calls that an answer lists: fifty thousand calls of two bytes each were answered with four megabytes. */
const LISTED_MAX = 1_000;

/** Adds a refused call to those of its request. */
export function addRefusal(refused: RefusedCalls, index: number, { code, message }: Omit<RefusedCall, "index">): void {
  refused.count += 1;
  if (refused.first.length < LISTED_MAX) refused.first.push({ index, code, message });
}

/** Far more values than calls of SDKs have. */
const LIMITS = { ...PARSER_LIMITS, valuesMax: EVENT_LOOP_LIMITS.valuesMax };

/** An SDK that compresses sends `application/x-www-form-urlencoded`. Accepting that is safe, because no form of another site knows the key. */
const JSON_OF_ANY_TYPE = { ...JSON_TEXT, type: /^/ };

/** Reads the body of a request. Throws what `readText` throws. */
export function readCallsText(ctx: Context): Promise<string> {
  return readText(ctx, JSON_OF_ANY_TYPE, SINGLE_BYTES_MAX);
}

/**
 * The key in a body, where SDKs for Python send it instead of a header; null if there is none, or more than one. It is searched for in the text,
 * because nothing is parsed for somebody who has no key.
 */
export function writeKeyIn(text: string): string | null {
  const found = text.matchAll(/"writeKey"\s{0,9}:\s{0,9}"([^"\\]{1,256})"/g);
  const [key, other] = new Set(Array.from(found, ([, value]) => value!));
  return key === undefined || other !== undefined ? null : key;
}

const PATHS: ReadonlySet<string> = new Set(TRACKING_PATHS.map(([path]) => path));

/** The answer to a refused request: the envelope, in which SDKs of the tracking API look for `code` and `message` at the top. */
export function refusalOf(ctx: Context, error: ApiError, docsUrl: DocsUrl) {
  const envelope = renderError(error, ctx.state["requestId"] as string, docsUrl);
  const { code, message } = envelope.error;
  return PATHS.has(ctx.path) ? { ...envelope, code, message } : envelope;
}

/** Answers with the number of quarantined calls and the first refused ones. Throws VALIDATION_ERROR for a call to the path of `alias`. */
export function answerCalls(ctx: Context, type: CallType, quarantined: number, refused: RefusedCalls): void {
  if (type === "alias")
    throw new ApiError(400, "VALIDATION_ERROR", { message: refused.first[0]!.message, field: "type" });
  ctx.status = 200;
  ctx.body = {
    success: true,
    quarantined: quarantined === 0 ? undefined : quarantined,
    refused: refused.count === 0 ? undefined : refused.first,
  };
}

/** The calls of a body; those of a batch with what it says of all of them. Throws what `parseJson` throws, and VALIDATION_ERROR. */
export function parseCalls(text: string, type: CallType): unknown[] {
  const body = parseJson(text, LIMITS);
  if (!isObject(body)) throw new ApiError(400, "VALIDATION_ERROR", { message: "The body must be a JSON object." });
  if (type !== null) return [{ ...withoutKey(body), type }];
  const { batch } = body;
  if (!Array.isArray(batch)) {
    throw invalidField("batch", undefined, "`batch` must be an array.", 'Send {"batch": [ … ], "sentAt": …}.');
  }
  const { sentAt, groupId } = sharedBy(body);
  return batch.map((call: unknown) => {
    if (!isObject(call)) return call;
    const context = call["context"] ?? {};
    // The call's own group takes precedence.
    const isMerged = groupId !== undefined && (call["groupId"] ?? null) === null && isObject(context);
    return {
      ...(sentAt === undefined ? {} : { sentAt }),
      ...withoutKey(call),
      ...(isMerged ? { context: { groupId, ...context } } : {}),
    };
  });
}

/** Nobody who reads the quarantine may learn the key. */
function withoutKey({ writeKey: _, ...call }: Record<string, unknown>): Record<string, unknown> {
  return call;
}

const isStorable = (id: string): boolean => id.length <= CHARACTERS_MAX && findBadLiteral(JSON.stringify(id)) === null;

/**
 * What a batch says of all its calls: when they were sent, and the group in its `context`. Each call gets a copy, and there may be thousands, so nothing is
 * taken that has no effect or is long: a text of 250 KB became more than a gigabyte. Nor an id that cannot be stored, for which all calls would be refused.
 */
function sharedBy({ sentAt, context }: Record<string, unknown>): { sentAt?: string; groupId?: string | number } {
  const groupId = isObject(context) ? context["groupId"] : undefined;
  const isId =
    (typeof groupId === "number" && Number.isFinite(groupId)) || (typeof groupId === "string" && isStorable(groupId));
  return {
    ...(typeof sentAt === "string" && timestampProblem(sentAt) === null ? { sentAt } : {}),
    ...(isId ? { groupId } : {}),
  };
}
