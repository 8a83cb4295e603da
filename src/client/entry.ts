import { randomUUID } from "node:crypto";
import { InvalidOperationError } from "./errors.js";
import { checkText, described, objectText } from "./json.js";
import type { Schema, SentOperation } from "./types.js";

/** An operation as it is kept and sent: its text never changes, so a repetition is the same to the byte. */
export interface Entry {
  type: "track" | "identify";
  json: string;
  /** Of the text, in UTF-8. */
  bytes: number;
}

const CHARACTERS_MAX = 256;
const TRACK_FIELDS = ["type", "customerId", "event", "properties", "timestamp", "idempotencyKey"];
const IDENTIFY_FIELDS = ["type", "customerId", "traits"];
/** What has a date, a time and a zone; whether there is such an instant is for the service to say. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)$/i;

/**
 * A track operation from what a caller gave. Its idempotency key is made here, once, unless it was given. With a key that is made here goes the present
 * instant, where no timestamp was given: the event keeps the time at which it happened, however late it is sent. A key that was given stands for an event
 * that another run may send again, whose present is another: a timestamp of ours would make the two conflict.
 * @param at where the operation is in what was given, for messages: empty, or `operations[3].` @throws {InvalidOperationError}
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

/** An identify operation from what a caller gave. @throws {InvalidOperationError} */
export function identifyEntry(given: unknown, at = ""): Entry {
  const operation = checkedFields(given, "identify", IDENTIFY_FIELDS, at);
  return entry("identify", [
    `"type":"identify"`,
    `"customerId":${idText(operation["customerId"], `${at}customerId`)}`,
    `"traits":${objectText(operation["traits"], `${at}traits`)}`,
  ]);
}

/** Of a batch: what says that it is an identify operation, or else a track operation. @throws {InvalidOperationError} */
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
      const problem = `is no field of ${type === "identify" ? "an" : "a"} ${type} operation; they are ${fields.join(", ")}`;
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
  if (value instanceof Date && Number.isNaN(value.getTime())) throw new InvalidOperationError(path, "is no date");
  const text = value instanceof Date ? value.toISOString() : value;
  if (typeof text !== "string" || !TIMESTAMP.test(text))
    throw new InvalidOperationError(
      path,
      "must be a Date, or a text in ISO 8601 with a timezone: 2026-03-02T10:00:00Z",
    );
  return JSON.stringify(text);
}
