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
