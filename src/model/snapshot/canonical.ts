import { createHash } from "node:crypto";
import type { Snapshot } from "./types.js";

/** The SHA-256 of a text in UTF-8. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

/**
 * The canonical text of a JSON value: object keys sorted by UTF-16 code units, no spaces, undefined members left out.
 * Equal values give equal bytes, whatever the order of their keys.
 *
 * @throws {TypeError} for values that JSON cannot represent: NaN, infinities, functions, symbols, big integers, undefined in an array.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`JSON has no number ${String(value)}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object") return canonicalObject(value as Record<string, unknown>);
  throw new TypeError(`JSON cannot hold a value of the type ${typeof value}`);
}

function canonicalObject(value: Record<string, unknown>): string {
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  }
  return `{${members.join(",")}}`;
}

/** The identity of a snapshot: the SHA-256 of its canonical JSON in UTF-8, as 64 lower-case hexadecimal digits. */
export function hashSnapshot(snapshot: Snapshot): string {
  return digest(canonicalJson(snapshot)).toString("hex");
}
