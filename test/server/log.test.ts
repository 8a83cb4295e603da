import { expect, test } from "vitest";
import { createLogger } from "../../src/server/log.js";

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
  ["an error's field", { err: Object.assign(new Error("failed"), { token: "hunter2" }) }],
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
