import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";

import { UserError } from "../../src/cli/core/errors.js";
import { sendChange } from "../../src/cli/output/change.js";
import { cancellable, interruptible } from "../../src/cli/output/interruption.js";
import { elementTexts, memberTexts, objectFromTexts } from "../../src/words/json-text.js";
import { createFile, replaceFile } from "../../src/cli/output/write-file.js";
import { project } from "../dsl-compiler/project.js";

const DOCUMENTS = [
  "{}",
  ' { "a" : 1 , "b":[ ] } ',
  '{"a":"\\"}","b]":{"c":"\\\\"},"":[{"d":[]},"]"]}',
  '{"n":-12345678901234567890.10e+5,"t":true,"f":false,"z":null}',
  '{"\\u0061":"ä\\u2028"}',
];

test.each(DOCUMENTS)("extracts members exactly as written: %s", (text) => {
  const members = memberTexts(text);
  const parsed = JSON.parse(text) as Record<string, unknown>;
  expect([...members.keys()]).toEqual(Object.keys(parsed));
  for (const [name, member] of members) expect(JSON.parse(member)).toEqual(parsed[name]);
  expect(JSON.parse(objectFromTexts(members))).toEqual(parsed);
});

test("extracts members and elements exactly as written, with all digits; returns none if there are none", () => {
  expect([...memberTexts('{"n" : 1.10, "m":[12345678901234567890]}')]).toEqual([
    ["n", "1.10"],
    ["m", "[12345678901234567890]"],
  ]);
  const elements = ["1.0", '"a,]"', '{"b":[1,2]}', "[ ]", "null"];
  expect(elementTexts(` [ ${elements.join(" ,")}]`)).toEqual(elements);
  expect(elementTexts("[]")).toEqual([]);
  expect(memberTexts("[1]").size).toBe(0);
  expect(elementTexts('{"a":1}')).toEqual([]);
});

test("reads long texts", () => {
  const long = JSON.stringify('\n"'.repeat(1_000_000));
  expect(memberTexts(`{"a":${long},"b":1}`).get("b")).toBe("1");
});

async function* parts(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await setTimeout(0);
    yield Buffer.from(text);
  }
}

test.each([
  ["createFile", (file: string) => createFile(file, parts("sec", "ret"))],
  ["replaceFile", (file: string) => replaceFile(file, "secret")],
] as const)(
  "%s neither follows a link nor takes the mode of a file that another user put there before",
  async (name, write) => {
    const folder = await project({ "target.txt": "target" });
    const file = path.join(folder, "out.json");
    // An attacker has guessed the name of the temporary file.
    const partial = path.join(folder, `.out.json.${process.pid}.partial`);
    await symlink(path.join(folder, "target.txt"), partial);
    await write(file);
    expect(await readFile(path.join(folder, "target.txt"), "utf8")).toBe("target");
    expect(await readFile(file, "utf8")).toBe("secret");
    if (name === "replaceFile") return;
    await rm(file);
    await writeFile(partial, "", { mode: 0o666 });
    await write(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  },
);

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s while a file is written leaves nothing of it",
  async (signal) => {
    const folder = await project({ "out.json": "before" });
    const written = replaceFile(path.join(folder, "out.json"), "x".repeat(30_000_000));
    process.kill(process.pid, signal);
    await expect(written).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await readdir(folder)).toEqual(["out.json"]);
    expect(await readFile(path.join(folder, "out.json"), "utf8")).toBe("before");
  },
);

/** Fails like a child process that the same Ctrl+C ended before this process handled the signal. */
function endedWithChild(): Promise<never> {
  process.kill(process.pid, "SIGINT");
  return Promise.reject(new Error("the child was stopped: write EPIPE"));
}

test("a failure because Ctrl+C ended a child is reported as cancelled, other failures as they are", async () => {
  await expect(cancellable(endedWithChild)).rejects.toMatchObject({ code: "CANCELLED" });
  // A command that runs until it is interrupted succeeds, although the end of the child is seen first.
  await expect(interruptible(endedWithChild)).resolves.toBeUndefined();
  await expect(sendChange("svc keys list", endedWithChild)).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  const failure = new UserError("CONFIG_INVALID", "the model has 1 error");
  await expect(cancellable(() => Promise.reject(failure))).rejects.toBe(failure);
});
