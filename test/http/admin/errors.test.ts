import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { CODES_WITH_TEXT } from "../../../src/http/error-texts.js";
import { ApiError, refusal, renderError, toApiError } from "../../../src/http/errors.js";
import { envelope, startService, type Actor, type Service } from "../../support/service.js";

describe("toApiError", () => {
  const raised = (code: string, more: Record<string, unknown> = {}) =>
    Object.assign(new Error("inner text"), { code, ...more });

  it.each([
    ["SV001", 401],
    ["SV002", 402],
    ["SV003", 403],
    ["SV004", 404],
    ["SV005", 409],
    ["SV006", 400],
    ["SV007", 422],
    ["SV008", 429],
    ["SV009", 429],
  ])("answers %s with %i, the code and the detail of the error", (code, status) => {
    const detail = JSON.stringify({ message: "A sentence.", field: "a.b", value: { x: null }, reason: null });
    const error = toApiError(Object.assign(new Error("SOME_CODE"), { code, detail }));
    expect(error).toMatchObject({ status, code: "SOME_CODE", message: "A sentence." });
    expect(error.detail).toEqual({ message: "A sentence.", field: "a.b", value: { x: null } });
  });

  it.each([
    ["22021", 400, "VALIDATION_ERROR"],
    ["22P05", 400, "VALIDATION_ERROR"],
    ["22003", 400, "VALIDATION_ERROR"],
    ["22007", 400, "VALIDATION_ERROR"],
    ["54000", 413, "PAYLOAD_TOO_LARGE"],
    ["54001", 400, "VALIDATION_ERROR"],
    ["40P01", 503, "SERVICE_UNAVAILABLE"],
    ["40001", 503, "SERVICE_UNAVAILABLE"],
    ["57P01", 503, "SERVICE_UNAVAILABLE"],
    ["57014", 503, "SERVICE_UNAVAILABLE"],
    ["08006", 503, "SERVICE_UNAVAILABLE"],
    ["53300", 503, "SERVICE_UNAVAILABLE"],
    ["CONNECTION_CLOSED", 503, "SERVICE_UNAVAILABLE"],
    ["CONNECT_TIMEOUT", 503, "SERVICE_UNAVAILABLE"],
    ["ECONNREFUSED", 503, "SERVICE_UNAVAILABLE"],
    ["23505", 500, "INTERNAL_ERROR"],
    ["42P01", 500, "INTERNAL_ERROR"],
    ["20000", 500, "INTERNAL_ERROR"],
    ["P0001", 500, "INTERNAL_ERROR"],
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
  it.each(CODES_WITH_TEXT)("%s says what happened and what to do", (code) => {
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
  let service: Service;
  let owner: Actor;
  const lines: Record<string, unknown>[] = [];
  const INTERNAL = "The service failed on this request. Send it again, and report the request ID if it keeps failing.";

  beforeAll(async () => {
    const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
    service = await startService({ log: pino({ level: "warn" }, stream) });
    owner = await service.owner("acme");
  });
  afterAll(() => service.stop());

  it("hides an unforeseen error from the client and logs it whole", async () => {
    await service.db.sql`alter table iam.memberships rename to hidden`;
    try {
      const reply = await service.request("GET", "/whoami", { by: owner });
      expect(reply.status).toBe(500);
      expect(reply.body).toEqual(envelope("INTERNAL_ERROR", INTERNAL));
      expect(lines.at(-1)).toMatchObject({
        level: 50,
        requestId: "req",
        method: "GET",
        route: "/whoami",
        err: { code: "42P01", message: expect.stringContaining('relation "iam.memberships"') as string },
      });
    } finally {
      await service.db.sql`alter table iam.hidden rename to memberships`;
    }
    expect((await service.request("GET", "/whoami", { by: owner })).status).toBe(200);
  });

  it("answers SERVICE_UNAVAILABLE while the database takes no connections, and recovers by itself", async () => {
    const { name } = service.db;
    const sql = connect(inject("database").url, { max: 1, applicationName: "svc test administration" });
    const allow = (yes: boolean) => sql.unsafe(`alter database ${name} allow_connections ${yes}`);
    try {
      await allow(false);
      await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity
        where datname = ${name} and application_name = 'svc test http'`;
      const replies = [
        await service.request("GET", "/whoami", { by: owner }),
        await service.request("GET", "/whoami", { by: owner }),
      ];
      for (const reply of replies) {
        expect(reply.status).toBe(503);
        expect(reply.headers.get("Retry-After")).toBe("1");
        expect(reply.body).toEqual(
          envelope("SERVICE_UNAVAILABLE", "The service is not available for the moment. Send the same request again."),
        );
      }
    } finally {
      await allow(true);
      await sql.end();
    }
    await expect.poll(async () => (await service.request("GET", "/whoami", { by: owner })).status).toBe(200);
  });
});
