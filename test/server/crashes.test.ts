import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import { stacksOf } from "../../src/server/log.js";
import { useDatabase } from "../support/database.js";
import { startServiceProcess } from "../support/service-process.js";

const QUOTED = "what no log may hold";

const db = await useDatabase();

it.each([
  ["thrown", "throw error"],
  ["rejected", "Promise.reject(error)"],
  ["thrown and no error", "throw error.detail"],
])("an unhandled error that is %s is logged in one line, without the value it quotes", async (_, fail) => {
  const error = `Object.assign(new Error("a row was refused"), { code: "23505", detail: "Key (note)=(${QUOTED})" })`;
  const program = `process.on("SIGUSR2", () => { const error = ${error}; ${fail}; });`;
  const service = await startServiceProcess(db.url, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}`,
  });
  onTestFinished(() => service.stop());
  service.signal("SIGUSR2");
  expect(await service.ended).toBe(1);
  const log = await readFile(path.join(inject("logs"), `service-${service.pid}-${process.pid}.log`), "utf8");
  expect(log).not.toContain(QUOTED);
  const message = fail.includes("detail") ? "what was thrown is not an Error but a string" : "a row was refused";
  // Another thread can write a line before the process has ended.
  const lines = log.trimEnd().split("\n");
  const fatal = lines
    .map((line) => JSON.parse(line) as object)
    .filter((line) => "level" in line && line.level === "fatal");
  const err = { message, stack: expect.stringContaining(message) as string };
  expect(fatal).toMatchObject([{ msg: "an unhandled error ends the process", err }]);
});

it("a command prints an unforeseen error without the value that the database quotes", () => {
  const cause = Object.assign(new Error(`invalid input syntax for type uuid: "${QUOTED}"`), { code: "22P02" });
  const printed = stacksOf(new Error("the command failed", { cause }));
  expect(printed).toMatch(/^Error: the command failed\n {4}at .*\nCaused by: Error: .*"\[redacted\]"\n {4}at /s);
  expect(printed).not.toContain(QUOTED);
});
