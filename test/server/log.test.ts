import { closeSync, openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../src/server/log.js";
import { createDatabase } from "../support/database.js";
import { startServiceProcess } from "../support/service-process.js";

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = "";
  write(createLogger("info", { write: (line) => void (text += line) }));
  return text;
}

test("a line is one JSON object with level, ISO time and message", () => {
  const line = JSON.parse(logged((log) => log.info({ port: 4400 }, "listening"))) as Record<string, unknown>;
  expect(line).toEqual({ level: "info", time: expect.any(String), pid: process.pid, port: 4400, msg: "listening" });
  expect(new Date(line["time"] as string).toISOString()).toBe(line["time"]);
});

test.each([
  ["a header", { req: { headers: { authorization: "hunter2", cookie: "hunter2", "set-cookie": "hunter2" } } }],
  ["a field", { token: "hunter2", apiKey: "hunter2", webhook: { secret: "hunter2" }, user: { password: "hunter2" } }],
])("a secret in %s is not written", (_, fields) => {
  const text = logged((log) => log.info(fields, "request"));
  expect(text).not.toContain("hunter2");
  expect(text).toContain("[redacted]");
});

test.each([
  ["an API key", "bad key svc_live_hunter2abc"],
  ["an access token", "bad token svc_token_hunter2abc"],
  ["the secret of a link", "GET https://svc.example.com/password?token=svc_link_hunter2abc"],
  ["a webhook secret", "signed with whsec_hunter2/abc+d=="],
  ["a bearer token", "header was Bearer hunter2abc.def"],
  ["a database password", "cannot reach postgres://svc:hunter2@127.0.0.1:5432/svc"],
])("%s inside a text is not written", (_, text) => {
  const line = logged((log) => log.error({ err: new Error(text) }, text));
  expect(line).not.toContain("hunter2");
  expect(JSON.parse(line)).toMatchObject({ level: "error" });
});

function loggedError(err: unknown): Record<string, unknown> {
  return (JSON.parse(logged((log) => log.error({ err }))) as { err: Record<string, unknown> }).err;
}

test("an error is written with its type, message, code and stack, and those of its cause", () => {
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", address: "127.0.0.1", port: 5432 });
  expect(loggedError(new TypeError("failed", { cause }))).toEqual({
    type: "TypeError",
    message: "failed",
    stack: expect.stringContaining("TypeError: failed\n    at ") as string,
    cause: {
      type: "Error",
      message: "refused",
      code: "ECONNREFUSED",
      address: "127.0.0.1",
      port: 5432,
      stack: expect.stringContaining("Error: refused") as string,
    },
  });
});

test("the value that a data exception quotes is not written", () => {
  const error = Object.assign(new Error('invalid input syntax for type bigint: "hun"ter2"'), { code: "22P02" });
  const { message, stack } = loggedError(error);
  expect(message).toBe('invalid input syntax for type bigint: "[redacted]"');
  expect(stack).not.toContain("ter2");
});

test("other fields of an error are not written, nor of one of the job runner", () => {
  const error = Object.assign(new Error("failed"), { code: "23514", detail: "Failing row contains (1, hunter2)." });
  for (const fields of [{ err: error }, { meta: { error, job: { id: 1 } } }]) {
    const text = logged((log) => log.error(fields, "a job failed"));
    expect(text).toMatch(/"type":"Error".*"code":"23514"/);
    expect(text).not.toContain("hunter2");
  }
});

test("the errors of an aggregate are written", () => {
  expect(loggedError(new AggregateError([new Error("one"), new Error("two")], "both"))).toMatchObject({
    type: "AggregateError",
    errors: [{ message: "one" }, { message: "two" }],
  });
});

test("a service whose log cannot be written, because the disk is full, goes on, and ends when asked to", async () => {
  const database = await createDatabase();
  const full = openSync("/dev/full", "w");
  const service = await startServiceProcess(database.url, {}, { stderr: full });
  closeSync(full);
  onTestFinished(async () => {
    await service.stop();
    await database.drop();
  });
  for (let turn = 0; turn < 3; turn += 1) expect((await fetch(`${service.url}/nowhere`)).status).toBe(404);
  expect(await service.end()).toBe(0);
});
