import { readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";

import { createFile, replaceFile } from "../../src/cli/output/write-file.js";
import { project } from "../dsl-compiler/project.js";

async function* parts(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    await setTimeout(0);
    yield Buffer.from(text);
  }
}

/** A folder in which somebody has guessed under which name a file is written first. */
async function guessed(): Promise<{ folder: string; file: string; partial: string }> {
  const folder = await project({ "target.txt": "target" });
  return {
    folder,
    file: path.join(folder, "out.json"),
    partial: path.join(folder, `.out.json.${process.pid}.partial`),
  };
}

test("a file that somebody put there before does not decide who may read what is written", async () => {
  const { file, partial } = await guessed();
  await writeFile(partial, "", { mode: 0o666 });
  await createFile(file, parts("a", "b"));
  expect(await readFile(file, "utf8")).toBe("ab");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test.each([
  ["createFile", (file: string) => createFile(file, parts("secret"))],
  ["replaceFile", (file: string) => replaceFile(file, "secret")],
] as const)("%s follows no link that somebody put there before", async (_name, write) => {
  const { folder, file, partial } = await guessed();
  await symlink(path.join(folder, "target.txt"), partial);
  await write(file);
  expect(await readFile(path.join(folder, "target.txt"), "utf8")).toBe("target");
  expect(await readFile(file, "utf8")).toBe("secret");
});

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
