import { pino } from "pino";
import { describe, expect, inject, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { TEXTS } from "../../../src/http/error-texts.js";
import { ApiError, refusal, renderError, toApiError } from "../../../src/http/errors.js";
import { refused, useApi } from "./support/api.js";

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

describe("the service", () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const api = useApi("one", { log: pino({ level: "warn" }, stream) });
  const whoami = () => api.service.request("GET", "/whoami", { by: api.owner });

  it("hides an unforeseen error from the client and logs it whole", async () => {
    const message = "The service failed on this request. Send it again, and report the request ID if it keeps failing.";
    await api.sql`alter table iam.memberships rename to hidden`;
    try {
      expect(await whoami()).toMatchObject(refused(500, "INTERNAL_ERROR", { message }));
      const err = { code: "42P01", message: expect.stringContaining('relation "iam.memberships"') as string };
      expect(lines.at(-1)).toMatchObject({ level: 50, requestId: "req", method: "GET", route: "/whoami", err });
    } finally {
      await api.sql`alter table iam.hidden rename to memberships`;
    }
    expect(await whoami()).toMatchObject({ status: 200 });
  });

  it("answers SERVICE_UNAVAILABLE while the database takes no connections, and recovers by itself", async () => {
    const { name } = api.service.db;
    const sql = connect(inject("database").url, { max: 1, applicationName: "svc test administration" });
    const allow = (yes: boolean) => sql.unsafe(`alter database ${name} allow_connections ${yes}`);
    try {
      await allow(false);
      await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = ${name} and application_name = 'svc test http'`;
      for (const reply of [await whoami(), await whoami()]) {
        expect(reply).toMatchObject(refused(503, "SERVICE_UNAVAILABLE"));
        expect(reply.headers.get("Retry-After")).toBe("1");
      }
    } finally {
      await allow(true);
      await sql.end();
    }
    await expect.poll(async () => (await whoami()).status).toBe(200);
  });
});
