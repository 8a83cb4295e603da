import Type from "typebox";
import { describe, expect, it } from "vitest";
import { refusal, renderError, toApiError } from "../../../src/http/errors.js";

import { DeclaredAnswers } from "../../support/declared-answers.js";

// test/http/documented-errors.test.ts has every refusal of the database and, with test/http/request-log.test.ts, what the service answers and
// logs of an unforeseen error.

describe("toApiError", () => {
  const raised = (code: string, more: Record<string, unknown> = {}) =>
    Object.assign(new Error("inner text"), { code, ...more });

  it("adopts code and detail of the database's refusal, and omits absent members", () => {
    const detail = JSON.stringify({ message: "A sentence.", field: "a.b", value: { x: null }, reason: null });
    const error = toApiError(Object.assign(new Error("SOME_CODE"), { code: "SV004", detail }));
    expect(error).toMatchObject({ status: 404, code: "SOME_CODE", message: "A sentence." });
    expect(error.detail).toEqual({ message: "A sentence.", field: "a.b", value: { x: null } });
  });

  it.each([
    ...["22021", "22P05", "22003", "22007", "54001"].map((code) => [code, 400, "VALIDATION_ERROR"] as const),
    ["54000", 413, "PAYLOAD_TOO_LARGE"] as const,
    ...[
      ...["40P01", "40001", "57P01", "57014", "08006", "53300"],
      ...["CONNECTION_CLOSED", "CONNECT_TIMEOUT", "ECONNREFUSED"],
    ].map((code) => [code, 503, "SERVICE_UNAVAILABLE"] as const),
    ...["23505", "42P01", "20000", "P0001"].map((code) => [code, 500, "INTERNAL_ERROR"] as const),
  ])("answers %s with %i %s and nothing of the inner text", (code, status, apiCode) => {
    const error = raised(code);
    const answer = toApiError(error);
    expect(answer).toMatchObject({ status, code: apiCode, cause: error });
    expect(JSON.stringify(renderError(answer, "req", undefined))).not.toContain("inner text");
    expect(answer.headers["Retry-After"]).toBe(status === 503 ? "1" : undefined);
  });

  it("recognizes a constraint by the beginning of its name, and on a cluster node by the message alone", () => {
    const error = raised("23505", { constraint_name: "projects_slug_key_102008" });
    expect(toApiError(error)).toMatchObject({ status: 409, code: "SLUG_TAKEN", detail: { field: "slug" } });
    const message = 'duplicate key value violates unique constraint "ingest_batches_batch_id_key_102034"';
    const ofNode = Object.assign(new Error(message), { code: "23505" });
    expect(toApiError(ofNode)).toMatchObject({ status: 503, code: "SERVICE_UNAVAILABLE" });
  });

  it("treats an unknown error as internal", () => {
    const errors = [new TypeError("inner text"), "a text", null, undefined].map(toApiError);
    for (const error of [...errors, refusal("SV999", "X", {})])
      expect(error).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
  });
});

describe("answers of administrative routes", () => {
  const answers = { 200: Type.Object({ name: Type.String() }, { additionalProperties: false }) };
  const at = { method: "GET", path: "/projects/:project/webhooks/:webhook" } as const;
  const refusals = { 404: ["JOURNEY_NOT_FOUND"] };
  const declaration = { ...at, operation: "get_overview", summary: "A webhook", answers, refusals };
  const declared = new DeclaredAnswers([{ ...at, handle: () => undefined, declaration }]);
  const check = (status: number, body: unknown) => () =>
    declared.check("GET", "/projects/a/webhooks/b?env=test", status, body);
  const refusedWith = (code: string) => ({ error: { code, message: "No.", requestId: "req" } });

  it.each<[what: string, status: number, body: object, passes?: true]>([
    ["are declared", 200, { name: "x" }, true],
    ["are a declared refusal", 404, refusedWith("JOURNEY_NOT_FOUND"), true],
    ["are a refusal that the path implies", 404, refusedWith("WEBHOOK_NOT_FOUND"), true],
    ["are a refusal that any route may answer", 401, refusedWith("INVALID_SESSION"), true],
    ["have another member", 200, { name: "x", more: 1 }],
    ["lack a member", 200, {}],
    ["have another status", 201, { name: "x" }],
    ["are a refusal of another code", 404, refusedWith("SEGMENT_NOT_FOUND")],
    ["are a refusal that its role excludes", 403, refusedWith("FORBIDDEN")],
    ["are a refusal without the envelope", 404, { code: "WEBHOOK_NOT_FOUND" }],
  ])("are checked against the declaration when they %s", (_what, status, body, passes) => {
    if (passes) check(status, body)();
    else expect(check(status, body)).toThrow();
  });
});
