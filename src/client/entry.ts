import { randomUUID } from "node:crypto";
import { InvalidOperationError } from "./errors.js";
import { checkText, described, objectText } from "./json.js";
import type { Schema, SentOperation } from "./types.js";

/** An operation as it is queued and sent. Its text never changes, so that a retry is the same byte for byte. */
export interface Entry {
  type: "track" | "identify";
  json: string;
  /** The length of `json` in UTF-8. */
  bytes: number;
}

const CHARACTERS_MAX = 256;
const TRACK_FIELDS = ["type", "customerId", "event", "properties", "timestamp", "idempotencyKey"];
const IDENTIFY_FIELDS = ["type", "customerId", "traits"];
/** A text with a date, a time and a zone. Whether such an instant exists is checked by the service. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)$/i;

/**
 * Checks a track operation, and gives it an idempotency key unless it has one. An operation without key and timestamp also gets the present instant, so that
 * the event keeps the time at which it happened, however late it is sent. An operation with a key of the caller's gets no timestamp: another run may send the
 * same event again, at another instant, and the two would conflict.
 * @param at the operation's place in the argument, for messages: empty, or `operations[3].` @throws {InvalidOperationError}
 */
export function trackEntry(given: unknown, at = ""): Entry {
  const operation = checkedFields(given, "track", TRACK_FIELDS, at);
  const { properties, timestamp, idempotencyKey } = operation;
  const id = (name: string, value = operation[name]) => `"${name}":${idText(value, at + name)}`;
  const members = [`"type":"track"`, id("customerId"), id("event")];
  if (properties !== undefined) members.push(`"properties":${objectText(properties, `${at}properties`)}`);
  const instant = timestamp === undefined && idempotencyKey === undefined ? new Date() : timestamp;
  if (instant !== undefined) members.push(`"timestamp":${timestampText(instant, `${at}timestamp`)}`);
  members.push(id("idempotencyKey", idempotencyKey === undefined ? randomUUID() : idempotencyKey));
  return entry("track", members);
}

/** Checks an identify operation. @throws {InvalidOperationError} */
export function identifyEntry(given: unknown, at = ""): Entry {
  const operation = checkedFields(given, "identify", IDENTIFY_FIELDS, at);
  return entry("identify", [
    `"type":"identify"`,
    `"customerId":${idText(operation["customerId"], `${at}customerId`)}`,
    `"traits":${objectText(operation["traits"], `${at}traits`)}`,
  ]);
}

/** Checks an operation of a batch: without the type `identify` it is a track operation. @throws {InvalidOperationError} */
export function operationEntry(given: unknown, at: string): Entry {
  const type = (given as { type?: unknown } | null | undefined)?.type;
  return type === "identify" ? identifyEntry(given, at) : trackEntry(given, at);
}

export function operationOf<S extends Schema>(entry: Entry): SentOperation<S> {
  return JSON.parse(entry.json) as SentOperation<S>;
}

function entry(type: Entry["type"], members: readonly string[]): Entry {
  const json = `{${members.join()}}`;
  return { type, json, bytes: Buffer.byteLength(json) };
}

function checkedFields(
  given: unknown,
  type: string,
  fields: readonly string[],
  at: string,
): Readonly<Record<string, unknown>> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new InvalidOperationError(at.slice(0, -1) || "the operation", `must be an object, not ${described(given)}`);
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (value !== undefined && !fields.includes(name)) {
      const problem = `is not a field of ${type === "identify" ? "an" : "a"} ${type} operation; they are ${fields.join(", ")}`;
      throw new InvalidOperationError(`${at}${name}`, problem);
    }
    if (name === "type" && value !== undefined && value !== type)
      throw new InvalidOperationError(`${at}type`, `must be "${type}" or left out`);
  }
  return given as Record<string, unknown>;
}

function idText(value: unknown, path: string): string {
  if (typeof value !== "string") throw new InvalidOperationError(path, `must be a string, not ${described(value)}`);
  if (value === "" || (value.length > CHARACTERS_MAX && [...value].length > CHARACTERS_MAX))
    throw new InvalidOperationError(path, `must have 1 to ${CHARACTERS_MAX} characters`);
  checkText(value, path);
  return JSON.stringify(value);
}

function timestampText(value: unknown, path: string): string {
  if (value instanceof Date && Number.isNaN(value.getTime()))
    throw new InvalidOperationError(path, "is an invalid date");
  const text = value instanceof Date ? value.toISOString() : value;
  if (typeof text !== "string" || !TIMESTAMP.test(text))
    throw new InvalidOperationError(
      path,
      "must be a Date, or a text in ISO 8601 with a timezone: 2026-03-02T10:00:00Z",
    );
  return JSON.stringify(text);
}
