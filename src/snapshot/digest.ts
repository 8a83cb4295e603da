import { createHash } from "node:crypto";

/** The SHA-256 of a text in UTF-8. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
