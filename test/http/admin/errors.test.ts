import Type from "typebox";
import { describe, expect, it } from "vitest";
import { TEXTS } from "../../../src/http/error-texts.js";
import { ApiError, refusal, renderError, toApiError } from "../../../src/http/errors.js";
import type { Route } from "../../../src/http/route.js";
import { DeclaredAnswers } from "../../support/declared-answers.js";

// test/http/documented-errors.test.ts and test/http/request-log.test.ts have what the service answers and logs of an unforeseen error.

describe("toApiError", () => {
  const raised = (code: string, more: Record<string, unknown> = {}) =>
    Object.assign(new Error("inner text"), { code, ...more });

  it.each([
    ...([
      ["SV001", 401],
      ["SV002", 402],
      ["SV003", 403],
      ["SV004", 404],
      ["SV005", 409],
    ] as const),
    ...([
      ["SV006", 400],
      ["SV007", 422],
      ["SV008", 429],
      ["SV009", 429],
    ] as const),
  ])("answers %s with %i, the code and the detail of the error", (code, status) => {
    const detail = JSON.stringify({ message: "A sentence.", field: "a.b", value: { x: null }, reason: null });
    const error = toApiError(Object.assign(new Error("SOME_CODE"), { code, detail }));
    expect(error).toMatchObject({ status, code: "SOME_CODE", message: "A sentence." });
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

  it("knows a constraint by the beginning of its name", () => {
    const error = raised("23505", { constraint_name: "projects_slug_key_102008" });
    expect(toApiError(error)).toMatchObject({ status: 409, code: "SLUG_TAKEN", detail: { field: "slug" } });
  });

  it.each([[new TypeError("inner text")], ["a text"], [null], [undefined], [42]])(
    "answers %s with INTERNAL_ERROR",
    (error) => {
      expect(toApiError(error)).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
    },
  );

  it("passes an ApiError on", () => {
    const error = new ApiError(404, "NOT_FOUND");
    expect(toApiError(error)).toBe(error);
  });

  it("takes a refusal of a SQLSTATE nobody knows for a fault of ours", () => {
    expect(refusal("SV999", "X", {})).toMatchObject({ status: 500, code: "INTERNAL_ERROR" });
  });
});

describe("a code that is raised without words", () => {
  it.each(Object.keys(TEXTS))("%s says what happened and what to do", (code) => {
    const { error } = renderError(new ApiError(400, code), "req", undefined);
    expect(error).toEqual({
      code,
      message: expect.stringMatching(/^[A-Z].*\.$/) as string,
      requestId: "req",
      fix: expect.stringMatching(/^[A-Z].*\.$/) as string,
    });
  });

  it("leaves the words of whoever raises it alone", () => {
    const error = new ApiError(404, "NOT_FOUND", { message: "Other.", fix: "Another." });
    expect(renderError(error, "req", undefined).error).toMatchObject({ message: "Other.", fix: "Another." });
  });
});

describe("answers of administrative routes", () => {
  const answers = { 200: Type.Object({ name: Type.String() }, { additionalProperties: false }) };
  const route: Route = {
    method: "GET",
    path: "/projects/:project/webhooks/:webhook",
    handle: () => undefined,
    declaration: {
      operation: "get_overview",
      method: "GET",
      path: "/projects/:project/webhooks/:webhook",
      summary: "A webhook",
      answers,
      refusals: { 404: ["JOURNEY_NOT_FOUND"] },
    },
  };
  const declared = new DeclaredAnswers([route]);
  const check = (status: number, body: unknown) => () =>
    declared.check("GET", "/projects/a/webhooks/b?env=test", status, body);
  const refusedWith = (code: string) => ({ error: { code, message: "No.", requestId: "req" } });

  it.each([
    ["a declared answer", 200, { name: "x" }],
    ["a declared refusal", 404, refusedWith("JOURNEY_NOT_FOUND")],
    ["a refusal that the path implies", 404, refusedWith("WEBHOOK_NOT_FOUND")],
    ["a refusal that any route may answer", 401, refusedWith("INVALID_SESSION")],
  ])("pass where they are %s", (_what, status, body) => {
    expect(check(status, body)).not.toThrow();
  });

  it.each([
    ["have another member", 200, { name: "x", more: 1 }],
    ["lack a member", 200, {}],
    ["have another status", 201, { name: "x" }],
    ["are a refusal of another code", 404, refusedWith("SEGMENT_NOT_FOUND")],
    ["are a refusal that its role excludes", 403, refusedWith("FORBIDDEN")],
    ["are a refusal without the envelope", 404, { code: "WEBHOOK_NOT_FOUND" }],
  ])("fail where they %s", (_what, status, body) => {
    expect(check(status, body)).toThrow();
  });
});
