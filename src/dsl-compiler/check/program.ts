import { existsSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import ts from "typescript";

/**
 * Declarations of Node.js, for folders without `@types/node`. Models seldom use Node.js, so everything is `any`: a model that logs, or reads an
 * environment variable, must not be an error.
 */

const GLOBALS = [
  ..."Buffer TextDecoder TextEncoder URL URLSearchParams clearInterval clearTimeout console".split(" "),
  ..."crypto fetch performance process queueMicrotask setInterval setTimeout structuredClone".split(" "),
];

const AMBIENT = [
  ...GLOBALS.map((name) => `declare var ${name}: any;`),
  ...builtinModules.map((name) => `declare module ${JSON.stringify(name)};`),
  `declare module "node:*";`,
  `declare module "*.txt" { const text: string; export default text; }`,
  `interface ImportMeta { url: string; filename: string; dirname: string; }`,
].join("\n");

/** The folders and the file that the checker reads. */
export interface Places {
  /** The author's folder, absolute. */
  directory: string;
  /** The entry of the model, relative to that folder. */
  config: string;
  /** The folder of this package's sources, absolute. They declare the language that authors import as "svc-success". */
  sources: string;
  /** Whether only these are read, and Node.js is not declared: the entry is from an untrusted author, and could import any file. */
  sealed: boolean;
}

/** The name of a virtual file with the declarations above. */
const AMBIENT_FILE = "/svc-ambient.d.ts";

/**
 * The program of an author's sources. The author's own tsconfig.json is only for the editor: the same sources are checked in the same
 * way everywhere, also in a folder without one.
 *
 * Strict, except for `noImplicitAny`: a wrong name would cause errors about everything that is inferred from it, and segments that
 * read each other have types that cannot be inferred. The validation of the model checks what is not inferred.
 */
export function createProgram(places: Places): ts.Program {
  const { directory, config, sources, sealed } = places;
  const typeRoots = path.join(directory, "node_modules", "@types");
  const hasNodeTypes = !sealed && existsSync(path.join(typeRoots, "node"));
  const options: ts.CompilerOptions = {
    strict: true,
    noImplicitAny: false,
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts"],
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    isolatedModules: true,
    noEmit: true,
    skipLibCheck: true,
    types: hasNodeTypes ? ["node"] : [],
    ...(hasNodeTypes ? { typeRoots: [typeRoots] } : {}),
    // Models of former versions import it as "svc".
    paths: Object.fromEntries(["svc-success", "svc"].map((name) => [name, [path.join(sources, "dsl", "index.ts")]])),
  };
  const roots = [path.join(directory, config), ...(hasNodeTypes || sealed ? [] : [AMBIENT_FILE])];
  return ts.createProgram(roots, options, hostOf(options, places));
}

/** The files that all projects have in common: TypeScript's own declarations and the language. Programs with the same options can share them. */
const shared = new Map<string, ts.SourceFile | undefined>();

function hostOf(options: ts.CompilerOptions, { directory, config, sources, sealed }: Places): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const roots = [path.dirname(ts.getDefaultLibFilePath(options)), sources].map(
    (root) => `${root.replaceAll("\\", "/")}/`,
  );
  const entry = path.join(directory, config).replaceAll("\\", "/");
  const isAmbient = (file: string) => !sealed && file === AMBIENT_FILE;
  const isReadable = (file: string) => !sealed || file === entry || roots.some((root) => file.startsWith(root));
  return {
    ...host,
    // Parsing the doc comments of TypeScript's own declarations would take a tenth of the time, and only editors need them.
    jsDocParsingMode: ts.JSDocParsingMode.ParseForTypeErrors,
    fileExists: (file) => isAmbient(file) || (isReadable(file) && host.fileExists(file)),
    readFile: (file) => (isAmbient(file) ? AMBIENT : isReadable(file) ? host.readFile(file) : undefined),
    getSourceFile: (file, version, ...rest) => {
      if (isAmbient(file)) return ts.createSourceFile(file, AMBIENT, version);
      if (!isReadable(file)) return undefined;
      if (!roots.some((root) => file.startsWith(root))) return host.getSourceFile(file, version, ...rest);
      if (!shared.has(file)) shared.set(file, host.getSourceFile(file, version, ...rest));
      return shared.get(file);
    },
  };
}

/** The files that the author wrote, without declarations, packages and the language. */
export function authoredFiles(program: ts.Program, { sources }: Places): ts.SourceFile[] {
  return program.getSourceFiles().filter(({ fileName, isDeclarationFile }) => {
    const outside = path.relative(sources, fileName).startsWith("..");
    return !isDeclarationFile && outside && !fileName.includes("/node_modules/") && !fileName.endsWith(".json");
  });
}
