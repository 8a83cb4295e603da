import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { newAccessToken } from "../../src/http/request/credentials.js";
import { leaksInWords, PLANTED, searchLogs } from "../support/leaks.js";

async function directory(): Promise<string> {
  const made = await mkdtemp(path.join(os.tmpdir(), "svc-test-leaks-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

const HARMLESS = '{"level":"info","requestId":"req_1","route":"/v1/events","status":202}';

it.each([
  ["a planted value", `{"properties":{"note":"${PLANTED}"}}`],
  ["SVC_SECRET", '{"env":"a secret of the tests, long enough"}'],
  ["an API key, token, link or session", `{"token":"${newAccessToken().text}"}`],
  ["a webhook secret", '{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}'],
  ["a bearer token", '{"msg":"sent Bearer abcdefghijklmnopqrstuvwxyz"}'],
  ["an e-mail address", '{"msg":"ada@example.com signed in"}'],
  ["a customer's id", '{"msg":"Customer \\"c1\\": its row cannot be written"}'],
  ["a password in a URL", '{"msg":"cannot reach postgres://svc:hunter2@localhost/svc"}'],
])("the search finds %s, with file and line", async (what, text) => {
  const logs = await directory();
  await writeFile(path.join(logs, "a.log"), `${HARMLESS}\n`);
  await writeFile(path.join(logs, "b.log"), `${HARMLESS}\n${text}\n${HARMLESS}\n`);
  const leaks = await searchLogs(logs);
  expect(leaks).toEqual([{ file: path.join(logs, "b.log"), line: 2, what, text }]);
  expect(leaksInWords(leaks)).toContain(`${path.join(logs, "b.log")}:2: ${what}: `);
});

it("the search finds what a log without redaction lets through", async () => {
  const logs = await directory();
  const file = path.join(logs, "plain.log");
  const stream = pino.destination({ dest: file, sync: true });
  pino(stream).error({ err: new Error(`failed with ${newAccessToken().text}`) });
  expect(await searchLogs(logs)).toMatchObject([{ file, line: 1 }]);
});

it("the search finds nothing where there is nothing", async () => {
  const logs = await directory();
  await writeFile(
    path.join(logs, "a.log"),
    `${HARMLESS}\n{"msg":"key svc_live_[redacted], postgres://svc:[redacted]@localhost/svc"}\n`,
  );
  expect(await searchLogs(logs)).toEqual([]);
});
