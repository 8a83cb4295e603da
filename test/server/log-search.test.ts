import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { newCredential } from "../../src/http/request/credentials.js";
import { leaksInWords, PLANTED, searchLogs } from "../support/leaks.js";

const HARMLESS = '{"msg":"key svc_live_[redacted], postgres://svc:[redacted]@localhost/svc","route":"/v1/events"}';

it.each([
  ["a planted value", `{"properties":{"note":"${PLANTED}"}}`],
  ["SVC_SECRET", '{"env":"a secret of the tests, long enough"}'],
  ["an API key, token, link or session", `{"token":"${newCredential("token").text}"}`],
  ["a webhook secret", '{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}'],
  ["a bearer token", '{"msg":"sent Bearer abcdefghijklmnopqrstuvwxyz"}'],
  ["an e-mail address", '{"msg":"ada@example.com signed in"}'],
  ["a customer's id", '{"msg":"Customer \\"c1\\": its row cannot be written"}'],
  ["a password in a URL", '{"msg":"cannot reach postgres://svc:hunter2@localhost/svc"}'],
])("the search finds %s, with file and line, and nothing else", async (what, text) => {
  const logs = await mkdtemp(path.join(os.tmpdir(), "svc-test-leaks-"));
  onTestFinished(() => rm(logs, { recursive: true }));
  await writeFile(path.join(logs, "a.log"), `${HARMLESS}\n`);
  await writeFile(path.join(logs, "b.log"), `${HARMLESS}\n${text}\n${HARMLESS}\n`);
  const leaks = await searchLogs(logs);
  expect(leaks).toEqual([{ file: path.join(logs, "b.log"), line: 2, what, text }]);
  expect(leaksInWords(leaks)).toContain(`${path.join(logs, "b.log")}:2: ${what}: `);
});
