import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, inject, it, onTestFinished } from "vitest";
import { stacksOf } from "../../src/server/log.js";
import { useDatabase } from "../support/database.js";
import { startServiceProcess } from "../support/service-process.js";

const PROGRAM = fileURLToPath(new URL("../../bin/svc-server.js", import.meta.url));
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

/** Runs a command whose output nobody reads. */
async function unread(...args: string[]) {
  const env = { PATH: process.env["PATH"], DATABASE_URL: db.url, LOG_LEVEL: "error" };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return { code: code as number, stderr };
}

it("a command ends silently if the reader has closed the pipe", async () => {
  expect(await unread("plans", "list")).toEqual({ code: 0, stderr: "" });
  expect(await unread("users", "list", "--json")).toEqual({ code: 0, stderr: "" });
});

it("a secret that was lost with the pipe is reported, with what to do", async () => {
  const lost = "svc-server: the output could not be written (EPIPE), and nothing shows it again";
  expect(await unread("bootstrap", "--organization", "unread", "--email", "ada@unread.example", "--json")).toEqual({
    code: 1,
    stderr: `${lost}; find the token with svc-server tokens list and revoke it, then run this again\n`,
  });
  expect(await unread("users", "sign-in", "--email", "ada@unread.example")).toEqual({
    code: 1,
    stderr: `${lost}; run this again for another link\n`,
  });
});

it("a command prints an unforeseen error without the value that the database quotes", () => {
  const cause = Object.assign(new Error(`invalid input syntax for type uuid: "${QUOTED}"`), { code: "22P02" });
  const printed = stacksOf(new Error("the command failed", { cause }));
  expect(printed).toMatch(/^Error: the command failed\n {4}at .*\nCaused by: Error: .*"\[redacted\]"\n {4}at /s);
  expect(printed).not.toContain(QUOTED);
});
