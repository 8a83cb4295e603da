import { storable } from "./storable.js";

const LENGTH_MAX = 1000;
const DEPTH_MAX = 4;

/**
 * Why a request failed, for the attempt log, as the database takes it. Follows causes, and the errors of each address that was tried: undici's and
 * Node.js' own top message often says nothing.
 */
export function describeError(error: unknown): string {
  const messages = new Set(messagesOf(error, 0).filter((message) => message !== ""));
  return storable(([...messages].join(": ") || "the request failed").slice(0, LENGTH_MAX));
}

function messagesOf(error: unknown, depth: number): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause];
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const own = error.message === "" ? (inner.length === 0 ? code : "") : error.message;
  return [own, ...(depth < DEPTH_MAX ? inner.flatMap((cause) => messagesOf(cause, depth + 1)) : [])];
}
