import { existsSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import ts from "typescript";

/**
 * Declarations for what Node.js gives a model beside the language, where the author's folder has none of its own (`@types/node`).
 * Models seldom use it, so its types are left open: a model that logs, or reads a variable of its environment, is no mistake.
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

/** Where the checker finds what. All are absolute. */
export interface Places {
  directory: string;
  /** The entry of the model, in that folder. */
  config: string;
  /** The folder of this package's sources: they declare the language that authors import as "svc-success". */
  sources: string;
  /** Whether nothing but these is read, and nothing of Node.js is declared: the entry is somebody else's, and may name any file. */
  sealed: boolean;
}

/** No file: the declarations that stand in for those of Node.js. */
const AMBIENT_FILE = "/svc-ambient.d.ts";

/**
 * The program of an author's sources. What the author's own tsconfig.json says is for the editor: the same sources are checked in the
 * same way everywhere, also in a folder that holds nothing but them.
 *
 * Strict, but for `noImplicitAny`: a mistaken name would be followed by complaints about all that is inferred from it, and segments
 * that read each other have types that cannot be inferred. What is not inferred is checked when the model is validated.
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
    // Former versions called it "svc".
    paths: Object.fromEntries(["svc-success", "svc"].map((name) => [name, [path.join(sources, "dsl", "index.ts")]])),
  };
  const roots = [path.join(directory, config), ...(hasNodeTypes || sealed ? [] : [AMBIENT_FILE])];
  return ts.createProgram(roots, options, hostOf(options, places));
}

/** What every project reads alike: TypeScript's own declarations and the language. Programs of the same options may share it, as in an editor. */
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
    // Comments of TypeScript's own declarations are for editors, and take a tenth of the time.
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

/** The files that the author wrote: neither declarations, nor packages, nor the language. */
export function authoredFiles(program: ts.Program, { sources }: Places): ts.SourceFile[] {
  return program.getSourceFiles().filter(({ fileName, isDeclarationFile }) => {
    const outside = path.relative(sources, fileName).startsWith("..");
    return !isDeclarationFile && outside && !fileName.includes("/node_modules/") && !fileName.endsWith(".json");
  });
}
