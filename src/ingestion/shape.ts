import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { firstShapeProblem, join, shortValue, type ShapeProblem } from "./shape-problem.js";
import { timestampProblem } from "./timestamp.js";
import { LENGTH_MARK } from "./unusual-numbers.js";

export const CHARACTERS_MAX = 256;
export const DOCUMENT_BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 100;
const MARK_IN_JSON = JSON.stringify(LENGTH_MARK).slice(1, -1);
export const BATCH_MAX = 1_000;

const Name = Type.String({ minLength: 1, description: `1 to ${CHARACTERS_MAX} characters (Unicode code points)` });
const Document = Type.Record(Type.String(), Type.Unknown());

/** A track operation: the body of POST /v1/events and an element of a batch. */
export const TrackRequest = Type.Object(
  {
    type: Type.Optional(Type.Literal("track")),
    customerId: Name,
    event: Name,
    properties: Type.Optional(Document),
    timestamp: Type.Optional(Type.String({ description: "ISO 8601 date-time with timezone" })),
    idempotencyKey: Type.Optional(Name),
  },
  { additionalProperties: false },
);

/** An identify operation: an element of a batch only. */
export const IdentifyRequest = Type.Object(
  { type: Type.Literal("identify"), customerId: Name, traits: Document },
  { additionalProperties: false },
);

export type TrackRequest = Static<typeof TrackRequest>;
export type IdentifyRequest = Static<typeof IdentifyRequest>;

const track = Compile(TrackRequest);
const identify = Compile(IdentifyRequest);

/**
 * The first problem of a single event; null if its shape is valid. Sizes are costly to determine, so the caller says whether they could exceed
 * the limit at all.
 */
export function singleProblem(value: unknown, checkSizes: boolean): ShapeProblem | null {
  if (isBatch(value)) return BATCH_SENT_AS_SINGLE;
  const type = typeOf(value);
  return type === undefined || type === "track" ? trackProblem(value, "", checkSizes) : wrongTypeOfSingle(type);
}

/** The first problem of an element of a batch; null if its shape is valid. */
export function operationProblem(value: unknown, path: string, checkSizes: boolean): ShapeProblem | null {
  const type = typeOf(value);
  if (type === undefined || type === "track") return trackProblem(value, path, checkSizes);
  return type === "identify" ? identifyProblem(value, path, checkSizes) : wrongTypeOfOperation(type, path);
}

const BATCH_SENT_AS_SINGLE: ShapeProblem = {
  message: "`events` is not a field of a track operation.",
  field: "events",
  fix: "Send batches to POST /v1/events/batch.",
};

function isBatch(value: unknown): boolean {
  return Array.isArray((value as { events?: unknown } | null)?.events) && !Object.hasOwn(value as object, "customerId");
}

function typeOf(value: unknown): unknown {
  return (value as { type?: unknown } | null)?.type;
}

function wrongTypeOfSingle(type: unknown): ShapeProblem {
  return {
    message: '`type` must be "track".',
    field: "type",
    value: shortValue(type),
    fix: 'Leave it out or send "track". Send identify operations to POST /v1/events/batch.',
  };
}

function wrongTypeOfOperation(type: unknown, path: string): ShapeProblem {
  const field = join(path, "type");
  return {
    message: `\`${field}\` must be "track" or "identify".`,
    field,
    value: shortValue(type),
    fix: 'Use "track" or "identify"; left out, it means "track".',
  };
}

function trackProblem(value: unknown, path: string, checkSizes: boolean): ShapeProblem | null {
  if (!track.Check(value))
    return firstShapeProblem(track.Errors(value), value, path, "a track", Object.keys(TrackRequest.properties));
  return (
    textProblem(value.customerId, join(path, "customerId")) ??
    textProblem(value.event, join(path, "event")) ??
    (value.idempotencyKey === undefined ? null : textProblem(value.idempotencyKey, join(path, "idempotencyKey"))) ??
    (value.timestamp === undefined ? null : instantProblem(value.timestamp, join(path, "timestamp"))) ??
    (value.properties === undefined ? null : documentProblem(value.properties, join(path, "properties"), checkSizes))
  );
}

function identifyProblem(value: unknown, path: string, checkSizes: boolean): ShapeProblem | null {
  if (!identify.Check(value)) {
    const known = Object.keys(IdentifyRequest.properties);
    return firstShapeProblem(identify.Errors(value), value, path, "an identify", known);
  }
  return (
    textProblem(value.customerId, join(path, "customerId")) ??
    documentProblem(value.traits, join(path, "traits"), checkSizes)
  );
}

function textProblem(text: string, field: string): ShapeProblem | null {
  // A string has at least half as many code points as UTF-16 units, and at most as many.
  if (text.length <= CHARACTERS_MAX) return null;
  const characters = Array.from(text).length;
  if (characters <= CHARACTERS_MAX) return null;
  return {
    message: `\`${field}\` is too long.`,
    field,
    reason: `It has ${characters} characters; at most ${CHARACTERS_MAX} are allowed.`,
    fix: "Send a shorter value.",
  };
}

function instantProblem(text: string, field: string): ShapeProblem | null {
  const reason = timestampProblem(text);
  if (reason === null) return null;
  return {
    message: `\`${field}\` is not a valid timestamp.`,
    field,
    value: shortValue(text),
    reason,
    fix: "Send ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z, or leave the field out for the time of ingestion.",
  };
}

function documentProblem(document: Record<string, unknown>, field: string, checkSize: boolean): ShapeProblem | null {
  if (isDeeperThan(document, DEPTH_MAX)) {
    return {
      message: `\`${field}\` is nested too deeply.`,
      field,
      reason: `At most ${DEPTH_MAX} levels are allowed.`,
      fix: "Flatten the value.",
    };
  }
  if (!checkSize) return null;
  const json = JSON.stringify(document);
  const bytes = Buffer.byteLength(json) + (json.includes(MARK_IN_JSON) ? markedBytes(document) : 0);
  if (bytes <= DOCUMENT_BYTES_MAX) return null;
  return {
    message: `\`${field}\` is too large.`,
    field,
    reason: `It has ${bytes} bytes as compact JSON in UTF-8 with numbers written without exponents; at most ${DOCUMENT_BYTES_MAX} are allowed.`,
    fix: "Send less, or keep large content elsewhere and send a reference to it.",
  };
}

/** By how many bytes the numbers that `withLengths` replaced are longer than the replacements. */
function markedBytes(value: unknown): number {
  if (typeof value === "string") {
    return value.startsWith(LENGTH_MARK) ? Number(value.slice(LENGTH_MARK.length)) - JSON.stringify(value).length : 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + markedBytes(member), 0);
}

/** Whether objects and arrays are nested deeper than `levels`; does not recurse deeper itself. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === "object" && child !== null && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}
