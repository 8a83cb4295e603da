import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { FixtureProject, repository, type Outcome } from "./support/project.js";

const { readAllowedImports } = createRequire(import.meta.url)("../../scripts/allowed-imports.cjs") as {
  readAllowedImports: () => Record<string, string[]>;
};

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

const projects: FixtureProject[] = [];

afterAll(async () => {
  for (const project of projects) await project.remove();
});

/** Runs dependency-cruiser with this repository's rules on a project of these files. */
async function cruise(
  files: Record<string, string>,
  reporter: "err" | "json",
  config = ".dependency-cruiser.cjs",
): Promise<Outcome> {
  const packages = ["pg", "left-out", "tested-with"].flatMap((name) => [
    [`node_modules/${name}/package.json`, JSON.stringify({ name, version: "1.0.0", main: "index.js" })],
    [`node_modules/${name}/index.js`, "module.exports = {};\n"],
  ]);
  const project = await FixtureProject.create({
    "package.json": JSON.stringify({
      type: "module",
      dependencies: { pg: "1.0.0" },
      devDependencies: { "tested-with": "1.0.0" },
    }),
    ...(Object.fromEntries(packages) as Record<string, string>),
    ...files,
  });
  projects.push(project);
  for (const file of [
    ".dependency-cruiser.cjs",
    ".dependency-cruiser-loaded.cjs",
    "scripts/allowed-imports.cjs",
    "docs/architecture.md",
  ])
    await project.take(file);
  await project.take("tsconfig.json");
  const command = path.join(repository, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const folders = [...new Set(Object.keys(files).map((name) => name.split("/")[0] ?? name))];
  const options = ["--config", config, "--output-type", reporter];
  return project.run(process.execPath, [command, ...folders, ...options]);
}

/** The violations, as `rule: from > to`. */
async function violations(files: Record<string, string>): Promise<string[]> {
  const { stdout } = await cruise(files, "json");
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
  const found = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from}${from === to ? "" : ` > ${to}`}`);
  return found.sort();
}

const use = (specifier: string) => `import * as used from "${specifier}";\nexport const user = used;\n`;

test("the table of allowed imports names every part", async () => {
  const folders = await readdir(path.join(repository, "src"));
  expect(Object.keys(readAllowedImports()).toSorted()).toEqual(folders.toSorted());
});

test("each rule is enforced", async () => {
  const found = await violations({
    "src/model/compiler.ts": 'import type * as used from "../dsl-compiler/free.js";\nexport type User = typeof used;\n',
    "src/dsl-compiler/free.ts": use("../dsl/event.js"),
    "src/dsl/event.ts": "export const event = 1;\n",
    "src/engine/clock.ts": use("node:perf_hooks"),
    "src/client/database.ts": use("pg"),
    "src/client/system.ts": use("node:crypto"),
    "src/dsl/database.ts": use("pg"),
    "src/http/database.ts": use("pg"),
    "src/server/database.ts": use("pg"),
    "src/tasks/worker.ts": use("pg"),
    "src/other/module.ts": use("node:fs"),
    "src/db/helper.ts": use("../../test/helper.js"),
    "src/db/undeclared.ts": use("left-out"),
    "src/db/development.ts": use("tested-with"),
    "src/db/development-type.ts": 'import type * as used from "tested-with";\nexport type User = typeof used;\n',
    "src/db/lost.ts": use("./nowhere.js"),
    "src/db/orphan.ts": "export const orphan = 1;\n",
    "src/cli/schemas.ts": use("../http/answers.js"),
    "src/cli/types.ts": 'import type * as used from "../http/answers.js";\nexport type User = typeof used;\n',
    "src/http/answers.ts": use("../db/hen.js"),
    "src/db/hen.ts": use("./egg.js"),
    "src/db/egg.ts": use("./hen.js"),
    "src/db/parent.ts": use("./child.js"),
    "src/db/child.ts":
      'import type { user } from "./parent.js";\nexport type Child = typeof user;\nexport const child = 1;\n',
    "test/helper.ts": use("tested-with"),
  });
  expect(found).toEqual([
    "cli-and-demo-take-types-of-http: src/cli/schemas.ts > src/http/answers.ts",
    "client-needs-only-node: src/client/database.ts > node_modules/pg/index.js",
    "drivers-stay-in-db: src/client/database.ts > node_modules/pg/index.js",
    "drivers-stay-in-db: src/dsl/database.ts > node_modules/pg/index.js",
    "drivers-stay-in-db: src/http/database.ts > node_modules/pg/index.js",
    "every-part-is-listed: src/other/module.ts > fs",
    "imports-of-model: src/model/compiler.ts > src/dsl-compiler/free.ts",
    "no-cycles: src/db/child.ts > src/db/parent.ts",
    "no-cycles: src/db/egg.ts > src/db/hen.ts",
    "no-development-packages: src/db/development.ts > node_modules/tested-with/index.js",
    "no-orphans: src/db/orphan.ts",
    "packages-are-declared: src/db/undeclared.ts > node_modules/left-out/index.js",
    "pure: src/dsl/database.ts > node_modules/pg/index.js",
    "pure: src/engine/clock.ts > perf_hooks",
    "resolves: src/db/lost.ts > ./nowhere.js",
    "src-stands-alone: src/db/helper.ts > test/helper.ts",
  ]);
});

test("svc dev must not reach database code, not even indirectly or by a dynamic import; type imports do not count", async () => {
  const { code, stdout } = await cruise(
    {
      "src/local/app.ts": use("../http/csv.js"),
      "src/local/types.ts": 'import type * as used from "../http/answers.js";\nexport type User = typeof used;\n',
      "src/http/csv.ts": 'export const later = () => import("../db/connect.js");\n',
      "src/http/answers.ts": use("../db/connect.js"),
      "src/db/connect.ts": "export const connect = 1;\n",
    },
    "err",
    ".dependency-cruiser-loaded.cjs",
  );
  expect(stdout.match(/error .*/g)).toEqual(["error local-without-database: src/local/app.ts → src/db/connect.ts"]);
  expect(code).toBe(1);
});

test("package.json says for every package with an install script whether npm runs it", async () => {
  // npm warns about undecided ones, and will skip them in the future.
  const read = async (file: string) => JSON.parse(await readFile(path.join(repository, file), "utf8")) as object;
  const { allowScripts } = (await read("package.json")) as { allowScripts: Record<string, boolean> };
  const { packages } = (await read("package-lock.json")) as { packages: Record<string, { hasInstallScript?: true }> };
  const scripted = Object.keys(packages).filter((at) => at !== "" && packages[at]!.hasInstallScript);
  const names = new Set(scripted.map((at) => at.slice(at.lastIndexOf("node_modules/") + "node_modules/".length)));
  expect(Object.keys(allowScripts).toSorted()).toEqual([...names].toSorted());
});

test("a package whose internal files are imported is pinned to one version, because they are no public interface", async () => {
  const manifest = JSON.parse(await readFile(path.join(repository, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  const files = await Promise.all(
    ["src", "scripts"].map((folder) => readdir(path.join(repository, folder), { recursive: true })),
  );
  const sources = [...files[0]!.map((file) => `src/${file}`), ...files[1]!.map((file) => `scripts/${file}`)];
  const inner = new Set<string>();
  for (const file of sources.filter((name) => /\.[jt]s$/.test(name))) {
    const text = await readFile(path.join(repository, file), "utf8");
    for (const [, name] of text.matchAll(/(?:from|import\() ?"((?:@[\w-]+\/)?[\w-]+)\/(?:dist|lib|build)\//g))
      inner.add(name!);
  }
  expect(inner).toContain("graphile-migrate");
  const versions = { ...manifest.devDependencies, ...manifest.dependencies };
  expect([...inner].filter((name) => !/^\d/.test(versions[name] ?? ""))).toEqual([]);
});
