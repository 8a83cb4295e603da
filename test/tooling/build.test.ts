import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { useDirectory } from "../support/directory.js";

// scripts/build.js, run on a few sources in a separate directory.

const ROOT = path.resolve(import.meta.dirname, "../..");
const directory = await useDirectory();

beforeAll(async () => {
  for (const name of ["LICENSE", "packages", "scripts", "tsconfig.json", "tsconfig.build.json"])
    await cp(path.join(ROOT, name), path.join(directory, name), { recursive: true });
  await symlink(path.join(ROOT, "node_modules"), path.join(directory, "node_modules"));
  await mkdir(path.join(directory, "src/server"), { recursive: true });
  await writeFile(path.join(directory, "package.json"), '{"type":"module"}');
  await write("one.ts", "export const one: number = 1;\n");
  await write("two.ts", 'export { one as two } from "./one.js";\n');
  await write("where.ts", "export const where: string = import.meta.url;\n");
  await write("server/main.ts", 'import { where } from "../where.js";\nconsole.log(where);\n');
  await write("server/worker-thread.ts", "export {};\n");
  await write("server/compute-thread.ts", "export {};\n");
  await mkdir(path.join(directory, "src/dsl"));
  await write("dsl/index.ts", "export const word = String(1);\n");
  await mkdir(path.join(directory, "src/dsl-compiler/check"), { recursive: true });
  await write("dsl-compiler/check/worker.ts", "export {};\n");
});

const write = (name: string, text: string) => writeFile(path.join(directory, "src", name), text);
const output = (name: string) => path.join(directory, "dist", name);

/** Builds, and returns the resulting files of dist, except for the packages. */
async function build(): Promise<string[]> {
  await promisify(execFile)(process.execPath, [path.join(directory, "scripts/build.js")]);
  return (await readdir(path.join(directory, "dist"))).filter((name) => /^(one|two)\./.test(name)).toSorted();
}

test("a build follows the sources, and leaves files alone while they are unchanged", async () => {
  const all = ["one.js", "one.js.map", "two.js", "two.js.map"];
  expect(await build()).toEqual(all);
  expect(await readFile(output("dsl/index.d.ts"), "utf8")).toBe("export declare const word: string;\n");

  await writeFile(output("one.js"), "not built again");
  await build();
  expect(await readFile(output("one.js"), "utf8")).toBe("not built again");

  await rm(output("two.js.map"));
  expect(await build()).toEqual(all);
  expect(await readFile(output("one.js"), "utf8")).toContain("one = 1");

  await write("one.ts", "export const one: number = 11;\n");
  await rm(path.join(directory, "src/two.ts"));
  expect(await build()).toEqual(all.slice(0, 2));
  expect(await readFile(output("one.js"), "utf8")).toContain("one = 11");

  // Bundled modules find their files as if they were not bundled.
  const { stdout } = await promisify(execFile)(process.execPath, [output("server/main.js")]);
  expect(stdout.trim()).toBe(pathToFileURL(output("where.js")).href);
});

test("an editor checks and completes a model with the language of a checkout", async () => {
  const project = await mkdtemp(path.join(os.tmpdir(), "svc-build-editor-"));
  onTestFinished(() => rm(project, { recursive: true }));
  await cp(path.join(ROOT, "starter/common"), project, { recursive: true });
  await mkdir(path.join(project, "node_modules"));
  await symlink(ROOT, path.join(project, "node_modules/svc-success"));
  const compiler = path.join(ROOT, "node_modules/typescript-7/bin/tsc");
  const check = () => promisify(execFile)(process.execPath, [compiler, "--project", project]);
  await check();
  const wrong = 'import { stages } from "./lifecycle.js";\nexport const lost = stages.is("chruned");\n';
  await writeFile(path.join(project, "model/wrong.ts"), wrong);
  await expect(check()).rejects.toMatchObject({ stdout: expect.stringMatching(/"chruned"/) as string });
});

test("a checkout without installed packages gets one line that says what to do", async () => {
  const bare = await mkdtemp(path.join(os.tmpdir(), "svc-build-bare-"));
  onTestFinished(() => rm(bare, { recursive: true }));
  for (const folder of ["scripts", "src"])
    await cp(path.join(directory, folder), path.join(bare, folder), { recursive: true });
  await cp(path.join(directory, "package.json"), path.join(bare, "package.json"));
  const building = promisify(execFile)(process.execPath, [path.join(bare, "scripts/build.js")]);
  await expect(building).rejects.toMatchObject({
    code: 1,
    stderr: "error: the packages are not installed; run: npm ci\n",
  });
});

test("a package of which one entry is bundled is bundled whole", async () => {
  await write("shapes.ts", 'export { IsObject } from "typebox/guard";\n');
  onTestFinished(() => rm(path.join(directory, "src/shapes.ts")));
  await expect(build()).rejects.toThrow('add "typebox/guard" to BUNDLED, like "typebox"');
});
