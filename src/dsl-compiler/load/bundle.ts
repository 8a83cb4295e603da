import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Message, type Location as MessageLocation, type Metafile, type Plugin } from "esbuild";

import type { GuardedFile } from "../check/exception-guards.js";
import { type Diagnostic, diagnostic, type Location, type Range, relative } from "../diagnostics/diagnostic.js";
import { fixFor } from "../diagnostics/fixes.js";

/** The author's modules, the language and the runner as one module, which needs only Node.js. */
export interface Bundle {
  code: string;
  /** A source map, as JSON; its sources are relative to the project. */
  map: string;
  warnings: Diagnostic[];
  /** The files that are part of an import cycle, relative to the project. */
  circular: Set<string>;
}

// The compiler runs from its sources as well as built; its neighbours have the same extension.
const here = fileURLToPath(import.meta.url);
const neighbour = (name: string) => path.resolve(path.dirname(here), `${name}${path.extname(here)}`);

const root = path.resolve(path.dirname(here), "../../..");
/** The package's sources. They are part of the published package, because they declare the language to the type checker. */
export const SOURCES = path.join(root, "src");

/** Whether a file is the author's. Files in src and dist are the package's own; source maps of the built package name its sources. */
function isAuthored(file: string): boolean {
  const own = [SOURCES, path.join(root, "dist")].some((folder) => file.startsWith(folder + path.sep));
  return !own && !file.includes(`${path.sep}node_modules${path.sep}`);
}

/**
 * Authors import "svc-success", and get the language that comes with this compiler: their folder needs no packages. Models of former versions
 * import it as "svc".
 */
const language: Plugin = {
  name: "svc",
  setup(build) {
    build.onResolve({ filter: /^svc(-success)?$/ }, () => ({ path: neighbour("../../dsl/index") }));
  },
};

/** The name of the plugin below, whose only error is about the encoding. */
const AUTHORED = "svc:authored";

/** How the names of the author's files end. */
const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];

/** What is told of the files of a project, so that they can be watched. */
export interface FileObserver {
  /** Receives the real path of each of the author's files before it is read, also of those that are imported from outside of the folder. */
  onSource?: (file: string) => void;
  /** Receives each path at which a file that is imported, and was not found, could be. */
  onMissing?: (file: string) => void;
}

interface BundleOptions extends FileObserver {
  /** Texts to use instead of files, by absolute path. */
  replaced?: ReadonlyMap<string, string>;
}

/** Reads the author's files, or takes their replacements. Bytes that are not UTF-8 are refused: they would become other names. */
function authored({ replaced, onSource }: BundleOptions): Plugin {
  return {
    name: AUTHORED,
    setup(build) {
      build.onLoad({ filter: /\.([cm]?[jt]sx?|json)$/, namespace: "file" }, async ({ path: file }) => {
        if (!isAuthored(file)) return undefined;
        onSource?.(file);
        if (file.endsWith(".json")) return undefined;
        const contents = replaced?.get(file) ?? (await readFile(file));
        if (typeof contents === "string" || isUtf8(contents)) return { contents, loader: "default" };
        const location = { file: path.relative(build.initialOptions.absWorkingDir ?? "", file), line: 1, column: 0 };
        return { errors: [{ text: "The file is not UTF-8", location }] };
      });
    },
  };
}

/** Bundles a project, or returns the errors of its sources. */
export async function bundleProject(
  directory: string,
  config: string,
  options: BundleOptions,
): Promise<Bundle | { errors: Diagnostic[] }> {
  const entry = [
    `import { run } from ${JSON.stringify(neighbour("runner"))};`,
    `await run(() => import(${JSON.stringify(`./${config}`)}));`,
  ];
  try {
    const { outputFiles, warnings, metafile } = await build({
      stdin: { contents: entry.join("\n"), resolveDir: directory, sourcefile: "svc:entry", loader: "js" },
      absWorkingDir: directory,
      outfile: path.join(directory, "svc:bundle.js"),
      write: false,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "external",
      sourcesContent: false,
      metafile: true,
      plugins: [language, authored(options)],
      // The author's tsconfig.json, or one above it, must not change the result.
      tsconfigRaw: {},
      logLevel: "silent",
    });
    const found = warnings.map(sourceDiagnostic);
    const errors = found.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return { errors };
    const [map, code] = outputFiles;
    return { code: code!.text, map: map!.text, warnings: found, circular: circularFiles(metafile) };
  } catch (error) {
    const errors = (error as { errors?: Message[] }).errors;
    if (!errors) throw error;
    for (const file of errors.flatMap((message) => missingFiles(directory, message))) options.onMissing?.(file);
    return { errors: errors.map((message) => sourceDiagnostic({ ...message, id: `error:${message.id}` })) };
  }
}

/** The paths at which a file could be that an import names and esbuild did not find. */
function missingFiles(directory: string, { text, location }: Message): string[] {
  const [, name] = /^Could not resolve "(\.\.?\/[^"]*)"/.exec(text) ?? [];
  if (name === undefined || location === null) return [];
  const file = path.resolve(directory, path.dirname(location.file), name);
  const stem = file.replace(/\.[cm]?[jt]sx?$/, "");
  const stems = stem === file ? [file, path.join(file, "index")] : [stem];
  return [...new Set([file, ...stems.flatMap((start) => EXTENSIONS.map((extension) => start + extension))])];
}

function sourceDiagnostic({ id, text, location, pluginName }: Message): Diagnostic {
  const code = pluginName === AUTHORED ? "NOT_UTF8" : codeOf(id, text);
  const severity = id.startsWith("error:") || code === "DUPLICATE_KEY" ? "error" : "warning";
  const place = location ? placeOf(location) : undefined;
  const isTwice = /^Multiple exports with the same name |has already been declared$/.test(text);
  const fix = fixFor(isTwice ? "DUPLICATE_KEY" : code);
  return diagnostic(severity, code, text.charAt(0).toLowerCase() + text.slice(1), place, fix);
}

function circularFiles({ inputs }: Metafile): Set<string> {
  const importsOf = (file: string) => (inputs[file]?.imports ?? []).map(({ path: imported }) => imported);
  return new Set(
    Object.keys(inputs).filter((file) => {
      const reached = new Set(importsOf(file));
      // The iteration includes members that are added meanwhile.
      for (const next of reached) for (const further of importsOf(next)) reached.add(further);
      return reached.has(file);
    }),
  );
}

/** Converts a place of esbuild, which counts columns in bytes, to UTF-16 units. */
function placeOf({ file, line, column, length, lineText }: MessageLocation): Location | Range {
  const units = (bytes: number) => Buffer.from(lineText).subarray(0, bytes).toString().length;
  const start = { file: file.replaceAll("\\", "/"), line, column: units(column) + 1 };
  return length > 0 ? { ...start, endLine: line, endColumn: units(column + length) + 1 } : start;
}

function codeOf(id: string, text: string): string {
  // JavaScript keeps the last of two members silently: a state or a property would vanish from the model.
  if (id === "duplicate-object-key") return "DUPLICATE_KEY";
  if (text.startsWith("Could not resolve")) return "MODULE_NOT_FOUND";
  if (text.startsWith("No matching export")) return "NO_SUCH_EXPORT";
  return id.startsWith("error:") ? "SYNTAX_ERROR" : "SUSPICIOUS_SOURCE";
}

/** Finds the author's place in a stack of the bundle: the first frame that is neither the language's nor the compiler's. */
export type Locate = (stack: string | undefined) => Location | undefined;

// Node.js gets the bundle on standard input, so its frames have no file: "at file:///project/[eval1]:12:34".
const FRAME = /\[eval\d*\]:(\d+):(\d+)/g;

/** @param map the source map of the bundle @param guarded the files that were rewritten before bundling */
export function locator(directory: string, map: string, guarded: readonly GuardedFile[] = []): Locate {
  const sourceMap = new SourceMap(JSON.parse(map) as SourceMapPayload);
  return (stack) => {
    for (const [, line, column] of (stack ?? "").matchAll(FRAME)) {
      const entry = sourceMap.findEntry(Number(line) - 1, Number(column) - 1);
      if (!("originalSource" in entry)) continue;
      const file = path.resolve(directory, entry.originalSource);
      if (!isAuthored(file) || !entry.originalSource.match(/\.[cm]?[jt]sx?$/)) continue;
      const { insertions = [] } = guarded.find((rewritten) => rewritten.file === file) ?? {};
      const place = { file: relative(directory, file), line: entry.originalLine + 1, column: entry.originalColumn + 1 };
      for (const inserted of insertions) {
        if (inserted.line === place.line && inserted.column + inserted.length <= place.column)
          place.column -= inserted.length;
      }
      return place;
    }
    return undefined;
  };
}
