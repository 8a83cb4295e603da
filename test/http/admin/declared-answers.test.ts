import Type from "typebox";
import { describe, expect, it } from "vitest";
import type { Route } from "../../../src/http/route.js";
import { DeclaredAnswers } from "../../support/declared-answers.js";

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
const refused = (code: string) => ({ error: { code, message: "No.", requestId: "req" } });

describe("answers of administrative routes", () => {
  it.each([
    ["a declared answer", 200, { name: "x" }],
    ["a declared refusal", 404, refused("JOURNEY_NOT_FOUND")],
    ["a refusal that the path implies", 404, refused("WEBHOOK_NOT_FOUND")],
    ["a refusal that any route may answer", 401, refused("INVALID_SESSION")],
  ])("pass where they are %s", (_what, status, body) => {
    expect(check(status, body)).not.toThrow();
  });

  it.each([
    ["have another member", 200, { name: "x", more: 1 }],
    ["lack a member", 200, {}],
    ["have another status", 201, { name: "x" }],
    ["are a refusal of another code", 404, refused("SEGMENT_NOT_FOUND")],
    ["are a refusal that its role excludes", 403, refused("FORBIDDEN")],
    ["are a refusal without the envelope", 404, { code: "WEBHOOK_NOT_FOUND" }],
  ])("fail where they %s", (_what, status, body) => {
    expect(check(status, body)).toThrow();
  });
});
