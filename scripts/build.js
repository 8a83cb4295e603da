// Transpiles src to dist, file by file, in a few hundred milliseconds: quick enough to run before every start.
// Types are checked by `npm run types`; `npm run build` also writes declarations.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const sources = (await readdir(path.join(root, "src"), { recursive: true })).filter((name) => name.endsWith(".ts"));

/** Packages of hundreds of small modules, which take longer to find than to run: each of these imports becomes one file of ours. */
const BUNDLED = ["typebox", "typebox/compile"];
const bundleName = (specifier) => `packages/${specifier.replaceAll("/", "-")}`;

/** Leaves imports as they are, but for those of bundled packages. */
const transpileOnly = {
  name: "transpile-only",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path: specifier, importer }) => {
      if (importer === "") return undefined;
      if (!BUNDLED.includes(specifier)) return { path: specifier, external: true };
      const target = path.join(root, "src", `${bundleName(specifier)}.js`);
      const relative = path.relative(path.dirname(importer), target).split(path.sep).join("/");
      return { path: relative.startsWith(".") ? relative : `./${relative}`, external: true };
    });
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

const [modules, packages] = await Promise.all([
  build({
    ...shared,
    entryPoints: sources.map((name) => path.join(root, "src", name)),
    outdir: path.join(root, "dist"),
    outbase: path.join(root, "src"),
    plugins: [transpileOnly],
  }),
  build({
    ...shared,
    entryPoints: Object.fromEntries(BUNDLED.map((specifier) => [bundleName(specifier), specifier])),
    outdir: path.join(root, "dist"),
    chunkNames: "packages/shared-[hash]",
    splitting: true,
    absWorkingDir: root,
    metafile: true,
  }),
]);

// Only what changed, and each file whole at once: processes run from dist, and bundle it, while it is built again.
await Promise.all([...modules.outputFiles, ...packages.outputFiles].map(store));

// A source that was renamed or removed must not live on in dist. Stale files go last, so that a process that runs from dist
// while it is built again never finds it empty.
const built = new Set(sources.map((name) => name.slice(0, -".ts".length)));
for (const output of Object.keys(packages.metafile.outputs)) {
  built.add(path.relative("dist", output).replace(/\.js(\.map)?$/, ""));
}
for (const name of await readdir(path.join(root, "dist"), { recursive: true })) {
  const source = name.replace(/\.(js|js\.map|d\.ts)$/, "");
  if (source !== name && !built.has(source)) await rm(path.join(root, "dist", name), { force: true });
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
