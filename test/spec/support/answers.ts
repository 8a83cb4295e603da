import { expect } from "vitest";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import { DOCS_URL, type Reply } from "../../support/service.js";

/** An error envelope without `requestId` and `docs`, which follow from the request and the code. */
export interface Refusal {
  code: string;
  message: string;
  field?: string;
  value?: unknown;
  reason?: string;
  fix?: string;
  diagnostics?: { code: string; message: string; path: string }[];
  checks?: { name: string; message: string }[];
}

/** Expects an answer to be exactly this refusal: its status, the whole body, and the headers of every answer. */
export function expectRefused(reply: Reply, status: number, refusal: Refusal): void {
  expect({ status: reply.status, body: reply.body }).toEqual({
    status,
    body: { error: { ...refusal, requestId: "req", docs: `${DOCS_URL}/api#${refusal.code}` } },
  });
  expectJson(reply);
}

/** Expects an answer to be 202 with exactly this body. */
export function expectAccepted(reply: Reply, body: unknown): void {
  expect({ status: reply.status, body: reply.body }).toEqual({ status: 202, body });
  expectJson(reply);
}

/** Expects the answer to a single event that is new. */
export function expectTaken(reply: Reply): void {
  expectAccepted(reply, { eventId: EVENT_ID, accepted: true, queued: true, duplicate: false });
}

/** Expects the answer to a batch in which all operations are new, some of them events. */
export function expectBatchTaken(reply: Reply, operations: number, events = operations): void {
  expectAccepted(reply, { accepted: operations, rejected: 0, eventIds: Array(events).fill(EVENT_ID) });
}

function expectJson({ headers }: Reply): void {
  expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  expect(headers.get("X-Request-ID")).toBe("req");
}

/** The headers that tell of limits; null where one is not there. */
export function limitHeaders({ headers }: Reply): Record<string, string | null> {
  const names = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}
