import Type from "typebox";
import { Compile } from "typebox/compile";
import { timestampProblem } from "./timestamp.js";

export const CHARACTERS_MAX = 256;
export const DOCUMENT_BYTES_MAX = 64 * 1024;
export const DEPTH_MAX = 100;
export const BATCH_MAX = 1_000;

const Name = Type.String({ minLength: 1, description: `1 to ${CHARACTERS_MAX} characters (Unicode code points)` });
const Document = Type.Record(Type.String(), Type.Unknown());

/** A track operation: the body of POST /v1/events and an element of a batch. */
export const TrackOperation = Type.Object(
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
export const IdentifyOperation = Type.Object(
  { type: Type.Literal("identify"), customerId: Name, traits: Document },
  { additionalProperties: false },
);

const track = Compile(TrackOperation);
const identify = Compile(IdentifyOperation);

/** What is wrong with a request: the path of the field, the value where it is small, why, and what to do. */
export interface ShapeProblem {
  message: string;
  field?: string;
  value?: unknown;
  reason?: string;
  fix?: string;
}

/** The first problem of a single event; null where its shape is right. */
export function trackProblem(value: unknown, path: string, checkSizes: boolean): ShapeProblem | null {
  if (!track.Check(value)) return explain(track.Errors(value), value, path, "track");
  return (
    textProblem(value.customerId, join(path, "customerId")) ??
    textProblem(value.event, join(path, "event")) ??
    (value.idempotencyKey === undefined ? null : textProblem(value.idempotencyKey, join(path, "idempotencyKey"))) ??
    (value.timestamp === undefined ? null : whenProblem(value.timestamp, join(path, "timestamp"))) ??
    (value.properties === undefined ? null : documentProblem(value.properties, join(path, "properties"), checkSizes))
  );
}

/** The first problem of an element of a batch; null where its shape is right. */
export function operationProblem(value: unknown, path: string, checkSizes: boolean): ShapeProblem | null {
  if ((value as { type?: unknown } | null)?.type !== "identify") return trackProblem(value, path, checkSizes);
  if (!identify.Check(value)) return explain(identify.Errors(value), value, path, "identify");
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

function whenProblem(text: string, field: string): ShapeProblem | null {
  const reason = timestampProblem(text);
  if (reason === null) return null;
  return {
    message: `\`${field}\` is not a valid timestamp.`,
    field,
    value: shown(text),
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
  const bytes = Buffer.byteLength(JSON.stringify(document));
  if (bytes <= DOCUMENT_BYTES_MAX) return null;
  return {
    message: `\`${field}\` is too large.`,
    field,
    reason: `It has ${bytes} bytes as compact JSON in UTF-8; at most ${DOCUMENT_BYTES_MAX} are allowed.`,
    fix: "Send less, or keep large content elsewhere and send a reference to it.",
  };
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === "object" && child !== null && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
}

/** The schema's first error in our words: unknown members last, because a misspelt member also shows as a missing one. */
function explain(errors: SchemaError[], value: unknown, path: string, kind: "track" | "identify"): ShapeProblem {
  const rank = ["type", "required", "const", "minLength", "additionalProperties", "boolean"];
  const [error] = errors.toSorted((a, b) => rank.indexOf(a.keyword) - rank.indexOf(b.keyword));
  if (error === undefined) throw new Error("the schema refused a value and named no error");
  const field = join(path, error.instancePath.slice(1));
  switch (error.keyword) {
    case "required": {
      const [missing = ""] = error.params["requiredProperties"] as string[];
      return { message: `\`${join(path, missing)}\` is required.`, field: join(path, missing), fix: "Add the field." };
    }
    case "additionalProperties":
    case "boolean": {
      const [unknown = ""] =
        (error.params["additionalProperties"] as string[] | undefined) ?? [error.instancePath.slice(1)];
      return {
        message: `\`${join(path, unknown)}\` is not a field of ${kind === "track" ? "a track" : "an identify"} operation.`,
        field: join(path, unknown),
        fix: `Remove it. Known fields: ${Object.keys((kind === "track" ? TrackOperation : IdentifyOperation).properties).join(", ")}.`,
      };
    }
    case "const":
      return {
        message: `\`${field}\` must be "track"${path === "" ? "" : ' or "identify"'}.`,
        field,
        value: shown((value as Record<string, unknown>)["type"]),
        fix: path === "" ? "Send identify operations to POST /v1/events/batch." : 'Use "track" or "identify".',
      };
    case "minLength":
      return { message: `\`${field}\` must not be empty.`, field, value: "", fix: "Send a non-empty string." };
    default: {
      const expected = String(error.params["type"] ?? "valid value");
      const actual = error.instancePath === "" ? value : (value as Record<string, unknown>)[error.instancePath.slice(1)];
      return {
        message: field === "" ? "The body must be a JSON object." : `\`${field}\` must be ${article(expected)}.`,
        ...(field === "" ? {} : { field }),
        value: shown(actual),
        fix: `Send ${article(expected)}.`,
      };
    }
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function join(path: string, field: string): string {
  if (field === "") return path;
  return path === "" ? field : `${path}.${field}`;
}

/** A value small enough to be shown in an error; larger ones are left out. */
function shown(value: unknown): unknown {
  return JSON.stringify(value ?? null).length <= 200 ? value : undefined;
}
