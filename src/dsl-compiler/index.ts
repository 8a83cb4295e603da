import { realpathSync, statSync } from "node:fs";
import path from "node:path";

import { hashSnapshot } from "../model/snapshot/canonical.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { parseSnapshot, Problem } from "../model/validate/validate.js";
import { type Diagnostic, diagnostic, withSource } from "./diagnostics/diagnostic.js";
import { type CorrectedFile, correctFile } from "./diagnostics/edits.js";
import {
  loweredDiagnostics,
  locationFinder,
  problemDiagnostic,
  UNLISTED,
  unlistedDiagnostics,
} from "./diagnostics/to-diagnostics.js";
import { lint } from "./lint/lint.js";
import { CONFIG, type Load, load, loadGuarded, type LoadOptions } from "./load/load.js";
import { diagnosticsInOrder, merge, pathOf, type PlacedDiagnostic, subjectsOf, unique } from "./load/merge.js";
import { TypeChecker } from "./check/checker.js";

export type { Diagnostic } from "./diagnostics/diagnostic.js";

export type CompileResult =
  /** `recordOnly`: the events marked as not for conditions, which a snapshot does not contain. */
  | { ok: true; snapshot: Snapshot; hash: string; warnings: Diagnostic[]; recordOnly: string[] }
  /** `correctedFiles`: the files with certain corrections. Only a check of types finds any. */
  | { ok: false; diagnostics: Diagnostic[]; correctedFiles?: CorrectedFile[] };

export interface CompileOptions extends Partial<LoadOptions> {
  /** Whether types are checked as well; false by default. It takes about a second, in parallel with the rest, and gives other diagnostics exact places. */
  types?: boolean;
  /** Aborts the check of types; whatever waits for it fails. */
  signal?: AbortSignal;
}

/** Of elapsed time: what takes a fraction of a second takes many times as long on a machine that runs a whole build beside it. */
const TIME_LIMIT_MS = 30_000;

/**
 * Compiles a project folder, which contains `svc.config.ts`, to a snapshot. The author's mistakes are returned as diagnostics: as many as can be found at
 * once, each once. An exception means that the compiler itself failed. The same sources give the same snapshot, byte for byte.
 */
export async function compileProject(directory: string, options: CompileOptions = {}): Promise<CompileResult> {
  const folder = path.resolve(directory);
  if (!statSync(path.join(folder, CONFIG), { throwIfNoEntry: false })?.isFile()) {
    const fix = "run the command in a project's folder, or make a project: svc init";
    const message = `there is no ${CONFIG} in ${folder}`;
    return { ok: false, diagnostics: [diagnostic("error", "CONFIG_MISSING", message, undefined, fix)] };
  }
  // esbuild and TypeScript name sources by their real paths.
  const root = realpathSync(folder);
  // Now, because it may vanish while it is compiled, as when another branch is checked out.
  const config = path.relative(root, realpathSync(path.join(root, CONFIG)));
  const types = options.types ? new TypeChecker(root, config) : undefined;
  const settings = { ...options, timeLimitMs: options.timeLimitMs ?? TIME_LIMIT_MS };
  return endingWith(types, options.signal, () => compile(root, config, types, settings));
}

/** Does work that needs the types, and then ends their check. The signal ends it early, and whatever waits for it fails. */
async function endingWith<T>(
  types: TypeChecker | undefined,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const stop = (): void => void types?.end();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await work();
  } finally {
    signal?.removeEventListener("abort", stop);
    await types?.end();
  }
}

/** The type errors of a project folder, without running any of it. `sealed`: no other file than `svc.config.ts` is read. */
export async function checkTypes(
  directory: string,
  { sealed, signal }: { sealed: boolean; signal?: AbortSignal },
): Promise<Diagnostic[]> {
  signal?.throwIfAborted();
  const root = realpathSync(directory);
  const types = new TypeChecker(root, CONFIG, sealed);
  return endingWith(types, signal, async () =>
    withSource(diagnosticsInOrder(unique(merge(await types.mistakes(), []))), root),
  );
}

async function compile(
  root: string,
  config: string,
  types: TypeChecker | undefined,
  options: LoadOptions,
): Promise<CompileResult> {
  // The validation module takes long to load; meanwhile other processes bundle and run the sources.
  const validation = import("../model/validate/validate.js");
  const first = await load(root, options);
  const loaded = first.failed && types ? await loadGuarded(root, types, first, options) : first;
  const { found, snapshot } = check(loaded, (await validation).parseSnapshot);
  const mistakes = (await types?.mistakes()) ?? [];
  const reported = found.filter((one) => mistakes.length === 0 || !isConsequence(one));
  const others = types ? await placed(reported, types) : reported.map((one) => ({ diagnostic: one }));
  const all = merge(
    mistakes,
    others.filter((other) => isUseful(other, config)),
  );
  const diagnostics = (await withSource(diagnosticsInOrder(unique(all)), root)).map(withoutOutsideEdits);
  if (snapshot === null || diagnostics.some(({ severity }) => severity === "error")) {
    const isCertain = diagnostics.some(({ edits }) => edits !== undefined);
    return { ok: false, diagnostics, ...(types && isCertain && { correctedFiles: await correct(diagnostics, types) }) };
  }
  const { recordOnly = [] } = loaded.lowered ?? {};
  return { ok: true, snapshot, hash: hashSnapshot(snapshot), warnings: diagnostics, recordOnly };
}

/** Removes the edits of files outside of the author's folder: a link or an import may lead to files that other projects share. */
function withoutOutsideEdits({ edits, ...rest }: Diagnostic): Diagnostic {
  if (!edits) return rest;
  if (!rest.file?.startsWith("../")) return { ...rest, edits };
  return { ...rest, fix: `${rest.fix}; --fix does not do this: the file is outside of the project's folder` };
}

/** Applies the edits of diagnostics, file by file. */
async function correct(diagnostics: readonly Diagnostic[], types: TypeChecker): Promise<CorrectedFile[]> {
  const files = diagnostics.flatMap(({ file, edits }) => (edits && file ? [file] : []));
  const names = [...new Set(files)];
  const texts = await types.texts(names);
  return texts.map((text, index) => {
    const own = diagnostics.filter(({ file }) => file === names[index]);
    return correctFile(names[index]!, text, own);
  });
}

/** Validates the snapshot, as every reader of a snapshot does. Only a valid model is linted. */
function check(
  { found, lowered, locate }: Load,
  parse: typeof parseSnapshot,
): { found: Diagnostic[]; snapshot: Snapshot | null } {
  if (!lowered || !locate) return { found, snapshot: null };
  const all = [...found, ...loweredDiagnostics(lowered, locate, CONFIG)];
  if (lowered.snapshot === null) return { found: all, snapshot: null };
  const place = locationFinder(lowered, locate);
  const parsed = parse(lowered.snapshot);
  // An exception leaves holes in the model; missing or unused parts are then its consequence.
  const isIncomplete = found.some(({ severity }) => severity === "error");
  if (!parsed.ok) {
    const problems = parsed.problems.filter((problem) => !isIncomplete || !isOfHole(problem));
    all.push(...problems.map((problem) => problemDiagnostic("error", problem, place, lowered.snapshot)));
  }
  if (!parsed.ok || all.some(({ severity }) => severity === "error")) return { found: all, snapshot: null };
  const warnings = lint(parsed.snapshot, lowered.recordOnly).map((warning) =>
    problemDiagnostic("warning", warning, place, lowered.snapshot),
  );
  return { found: [...all, ...warnings, ...unlistedDiagnostics(lowered, locate)], snapshot: parsed.snapshot };
}

/** The messages about shapes that a value which could not be computed causes. */
const OF_HOLE =
  /^(is missing|must not be empty|must be (an? )?(object|string|finite number|whole number|boolean|array|text\b.*))$/;

function isOfHole({ code, message }: Problem): boolean {
  return code === "INVALID_SHAPE" && OF_HOLE.test(message);
}

/** The messages about shapes that the type checker reports, too: a value that is no condition at all, or lacks a part. */
const OF_TYPES =
  /(: must be ((an )?object|a finite number|string|boolean|array|"state", or an object that names a journey)|\bis missing|is not known here|\.kind: must be one of .*)$/;

/** Whether a diagnostic is only the consequence of a type error at run time. */
function isConsequence({ code, message }: Diagnostic): boolean {
  if (code === "MODEL_FAILED") return /\b(Type|Reference)Error: (?!.*before initialization)/.test(message);
  return code === "INVALID_SHAPE" && OF_TYPES.test(message);
}

/**
 * False for a part that is not listed but may be meant for another model: one that a module other than the model's own exports, or that a function makes.
 * Only a check of types knows what is exported.
 */
function isUseful({ diagnostic: { code, file }, place }: PlacedDiagnostic, config: string): boolean {
  return code !== UNLISTED || place?.isExported === false || (place?.isExported === true && file === config);
}

async function placed(found: readonly Diagnostic[], types: TypeChecker): Promise<PlacedDiagnostic[]> {
  const requests = found.map(({ file = "", line = 0, column = 0, endLine, message }) => ({
    location: { file, line, column },
    // A place with an end is exact already.
    subjects: endLine === undefined ? subjectsOf(message) : [],
    path: endLine === undefined ? pathOf(message) : undefined,
  }));
  const places = await types.places(requests);
  return found.map((one, index) => ({ diagnostic: one, place: one.endLine === undefined ? places[index] : undefined }));
}
