import { expect } from "vitest";
import { DOCS_URL, type Reply } from "../../support/service.js";

/** The ids of the events that an accepted request answers, of either endpoint. */
export function eventIds({ body }: Reply): string[] {
  const { eventId, eventIds: ids = [eventId] } = body as { eventId: string; eventIds?: string[] };
  return ids;
}

/** Expects what a client can act on: a status that blames the request, and an envelope that says what to do. Answers its code. */
export function expectHelpfulRefusal(reply: Reply): string {
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(500);
  const said = expect.stringMatching(/\S/) as string;
  expect(reply.body).toMatchObject({ error: { code: said, message: said, requestId: said, fix: said } });
  const { error } = reply.body as { error: { code: string; docs: string; requestId: string } };
  expect(error.docs).toBe(`${DOCS_URL}/api#${error.code}`);
  expect(reply.headers.get("X-Request-ID")).toBe(error.requestId);
  return error.code;
}

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

/** Expects the headers of every answer. */
export function expectJson({ headers }: Reply): void {
  expect(headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  expect(headers.get("X-Request-ID")).toBe("req");
}
