/** One line of a data file: a track or identify operation as `POST /v1/events/batch` takes it. */
import type { Outgoing } from "../send/outgoing.js";

/** An operation of a file, with what the summary of the file needs. */
export interface FileOperation extends Outgoing {
  idempotencyKey: string | null;
  /** The explicit timestamp in milliseconds; null where there is none. */
  occurredAt: number | null;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });
/** ISO 8601 with a zone. The service decides about the details; a timestamp without a zone is the usual mistake. */
const INSTANT = /^\d{4}-\d\d-\d\dT.+(?:Z|[+-]\d\d(?::?\d\d)?)$/i;

/** What is wrong with a line, for a message that names the line. */
export class LineProblem extends Error {}

/**
 * Reads a line. The text is kept as it is, so that numbers keep their digits; only a track operation without an idempotency key
 * gets one, made of its place in the file, because without a key a batch could not be sent again safely.
 */
export function readOperation(bytes: Buffer, number: number): FileOperation {
  const json = decode(bytes);
  const operation = parseObject(json);
  const { customerId, type = "track", timestamp, idempotencyKey } = operation;
  if (typeof customerId !== "string" || customerId === "")
    throw new LineProblem("customerId must be a non-empty string");
  const origin = `line ${number}`;
  if (type === "identify") {
    if (!isObject(operation["traits"])) throw new LineProblem("traits must be an object");
    return { customerId, kind: "identify", json, origin, idempotencyKey: null, occurredAt: null };
  }
  if (type !== "track") throw new LineProblem('type must be "track" or "identify"');
  if (typeof operation["event"] !== "string" || operation["event"] === "")
    throw new LineProblem("event must be a non-empty string");
  if (operation["properties"] !== undefined && !isObject(operation["properties"]))
    throw new LineProblem("properties must be an object");
  const track = { customerId, kind: "track", origin, occurredAt: readTimestamp(timestamp) } as const;
  if (idempotencyKey === undefined) return { ...track, ...withKey(json, `demo-${origin.replace(" ", "-")}`) };
  if (typeof idempotencyKey !== "string" || idempotencyKey === "")
    throw new LineProblem("idempotencyKey must be a non-empty string");
  return { ...track, json, idempotencyKey };
}

function decode(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new LineProblem("is not valid UTF-8");
  }
}

function parseObject(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new LineProblem(`is not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw new LineProblem("must be a JSON object");
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readTimestamp(timestamp: unknown): number | null {
  if (timestamp === undefined) return null;
  if (typeof timestamp !== "string" || !INSTANT.test(timestamp))
    throw new LineProblem("timestamp must be ISO 8601 with a time zone");
  const instant = Date.parse(timestamp);
  return Number.isNaN(instant) ? null : instant;
}

/** Puts the key in front: the object has at least one member, so a comma follows. */
function withKey(json: string, idempotencyKey: string): { json: string; idempotencyKey: string } {
  const opening = json.indexOf("{") + 1;
  return { idempotencyKey, json: `{"idempotencyKey":${JSON.stringify(idempotencyKey)},${json.slice(opening)}` };
}
