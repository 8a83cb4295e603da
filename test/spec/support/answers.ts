import { expect } from "vitest";
import { expectJson } from "../../http/ingest/answers.js";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import type { Reply } from "../../support/service.js";

export { expectRefused, type Refusal } from "../../http/ingest/answers.js";

/** Expects an answer to be 202 with exactly this body. */
export function expectAccepted(reply: Reply, body: unknown): void {
  expect({ status: reply.status, body: reply.body }).toEqual({ status: 202, body });
  expectJson(reply);
}

/** Expects the answer to a single event that is new. */
export function expectTaken(reply: Reply): void {
  expectAccepted(reply, { eventId: EVENT_ID, accepted: true, queued: true, duplicate: false });
}

/** Expects the answer to a batch of new operations, some of them events. */
export function expectBatchTaken(reply: Reply, operations: number, events = operations): void {
  expectAccepted(reply, { accepted: operations, rejected: 0, eventIds: Array(events).fill(EVENT_ID) });
}

/** The rate-limit headers; null for a missing one. */
export function limitHeaders({ headers }: Reply): Record<string, string | null> {
  const names = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}
