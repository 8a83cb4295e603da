import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, Plugin } from "esbuild";
import { build } from "esbuild";

import type { Diagnostic } from "./diagnostic.js";
import { diagnostic } from "./diagnostic.js";

/** The author's modules, the language and the runner as one module, which needs nothing but Node.js. */
export interface Bundle {
  code: string;
  /** A source map, as JSON; its sources are relative to the project. */
  map: string;
  /** Warnings about the sources. */
  warnings: Diagnostic[];
}

// The compiler runs from its sources as well as built; its neighbours have the same extension.
const here = fileURLToPath(import.meta.url);
const neighbour = (name: string) => path.resolve(path.dirname(here), `${name}${path.extname(here)}`);

/**
 * Where the language and the compiler are: stack frames in there are not the author's. The source maps of the built ones name their
 * sources, so both places count wherever the compiler runs from.
 */
const root = path.resolve(path.dirname(here), "../..");
export const OWN_FOLDERS = ["src", "dist"].flatMap((place) =>
  ["dsl", "dsl-compiler"].map((folder) => path.join(root, place, folder)),
);

/** Authors import "svc", and get the language of the service that compiles: their folder needs no packages. */
const language: Plugin = {
  name: "svc",
  setup(build) {
    build.onResolve({ filter: /^svc$/ }, () => ({ path: neighbour("../dsl/index") }));
  },
};

/** Bundles a project, or says what is wrong with its sources. */
export async function bundleProject(directory: string, config: string): Promise<Bundle | { errors: Diagnostic[] }> {
  const entry = [
    `import { run } from ${JSON.stringify(neighbour("runner"))};`,
    `await run(() => import(${JSON.stringify(`./${config}`)}));`,
  ];
  try {
    const { outputFiles, warnings } = await build({
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
      plugins: [language],
      logLevel: "silent",
    });
    const found = warnings.map(sourceDiagnostic);
    const errors = found.filter(({ severity }) => severity === "error");
    if (errors.length > 0) return { errors };
    const [map, code] = outputFiles;
    return { code: code!.text, map: map!.text, warnings: found };
  } catch (error) {
    const errors = (error as { errors?: Message[] }).errors;
    if (!errors) throw error;
    return { errors: errors.map((message) => sourceDiagnostic({ ...message, id: `error:${message.id}` })) };
  }
}

function sourceDiagnostic({ id, text, location }: Message): Diagnostic {
  const code = codeOf(id, text);
  const severity = id.startsWith("error:") || code === "DUPLICATE_KEY" ? "error" : "warning";
  const place = location
    ? { file: location.file.replaceAll("\\", "/"), line: location.line, column: location.column + 1 }
    : undefined;
  return diagnostic(severity, code, text.charAt(0).toLowerCase() + text.slice(1), place);
}

function codeOf(id: string, text: string): string {
  // JavaScript keeps the last of two members silently: a state or a property would vanish from the model.
  if (id === "duplicate-object-key") return "DUPLICATE_KEY";
  if (text.startsWith("Could not resolve")) return "MODULE_NOT_FOUND";
  if (text.startsWith("No matching export")) return "NO_SUCH_EXPORT";
  return id.startsWith("error:") ? "SYNTAX_ERROR" : "SUSPICIOUS_SOURCE";
}
