import { expect } from "vitest";
import { DOCS_URL, type Reply } from "../../support/service.js";

/** The event ids in the answer to an accepted request, of either endpoint. */
export function eventIds({ body }: Reply): string[] {
  const { eventId, eventIds: ids = [eventId] } = body as { eventId: string; eventIds?: string[] };
  return ids;
}

/** Expects a refusal that a client can act on: a 4xx status, and an envelope with a fix. Returns its code. */
export function expectHelpfulRefusal(reply: Reply): string {
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(500);
  const nonBlank = expect.stringMatching(/\S/) as string;
  expect(reply.body).toMatchObject({
    error: { code: nonBlank, message: nonBlank, requestId: nonBlank, fix: nonBlank },
  });
  const { error } = reply.body as { error: { code: string; docs: string; requestId: string } };
  expect(error.docs).toBe(`${DOCS_URL}/api#${error.code}`);
  expect(reply.headers.get("X-Request-ID")).toBe(error.requestId);
  return error.code;
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
