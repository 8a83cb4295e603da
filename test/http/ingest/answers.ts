import { expect } from "vitest";
import { DOCS_URL, type Reply } from "../../support/service.js";

/** The event ids in the answer to an accepted request, of either endpoint. */
export function eventIds({ body }: Reply): string[] {
  const { eventId, eventIds: ids = [eventId] } = body as { eventId: string; eventIds?: string[] };
  return ids;
}

/** An error envelope without `requestId` and `docs`, which are derived from the request and the code. */
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

/** Expects the headers of every answer. */
export function expectJson({ headers }: Reply): void {
  expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  expect(headers.get("X-Request-ID")).toBe("req");
}
