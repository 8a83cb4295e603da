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
import { CONFIG, type Load, load, loadGuarded } from "./load/load.js";
import { diagnosticsInOrder, merge, pathOf, type PlacedDiagnostic, subjectsOf, unique } from "./load/merge.js";
import { TypeChecker } from "./check/checker.js";

export type { Diagnostic } from "./diagnostics/diagnostic.js";

export type CompileResult =
  /** `recordOnly`: the events that no condition is to read, which a snapshot does not tell. */
  | { ok: true; snapshot: Snapshot; hash: string; warnings: Diagnostic[]; recordOnly: string[] }
  /** `correctedFiles`: those in which it is certain what to write. Only a check of types knows of any. */
  | { ok: false; diagnostics: Diagnostic[]; correctedFiles?: CorrectedFile[] };

export interface CompileOptions {
  /** Whether types are checked as well; false unless set. It takes about a second, beside the rest, and gives exact places to what else is found. */
  types?: boolean;
  /** How long the author's modules may take to load, in milliseconds. */
  timeLimitMs?: number;
  /** Takes what the author's modules print; by default it goes to standard error. */
  onOutput?: (text: string) => void;
  /** Ends the check of types, and what waits for it with a failure. */
  signal?: AbortSignal;
}

const TIME_LIMIT_MS = 10_000;

/**
 * Compiles a project folder, which holds `svc.config.ts`, to a snapshot. The author's mistakes are diagnostics, all that can be found at once and each
 * once, never exceptions; an exception means that the compiler itself could not work. The same sources give the same snapshot, byte for byte.
 */
export async function compileProject(directory: string, options: CompileOptions = {}): Promise<CompileResult> {
  const folder = path.resolve(directory);
  if (!statSync(path.join(folder, CONFIG), { throwIfNoEntry: false })?.isFile()) {
    const fix = "run the command in a project's folder, or make a project: svc init";
    const message = `there is no ${CONFIG} in ${folder}`;
    return { ok: false, diagnostics: [diagnostic("error", "CONFIG_MISSING", message, undefined, fix)] };
  }
  // Sources are found by their real paths.
  const root = realpathSync(folder);
  const types = options.types
    ? new TypeChecker(root, path.relative(root, realpathSync(path.join(root, CONFIG))))
    : undefined;
  const given = { ...options, timeLimitMs: options.timeLimitMs ?? TIME_LIMIT_MS };
  return endingWith(types, options.signal, () => compile(root, types, given));
}

/** Does what needs the types, and ends their check after it; the signal ends it before, and what waits for it fails. */
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

/** The mistakes of types in a project folder, of which nothing is run; `sealed`: no other file is read than `svc.config.ts`. */
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
  types: TypeChecker | undefined,
  options: CompileOptions & { timeLimitMs: number },
): Promise<CompileResult> {
  // The validation takes long to load; meanwhile other processes bundle and run.
  const validation = import("../model/validate/validate.js");
  const first = await load(root, options);
  const loaded = first.failed && types ? await loadGuarded(root, types, first, options) : first;
  const { found, snapshot } = check(loaded, (await validation).parseSnapshot);
  const mistakes = (await types?.mistakes()) ?? [];
  const told = found.filter((one) => mistakes.length === 0 || !isConsequence(one));
  const others = types ? await placed(told, types) : told.map((one) => ({ diagnostic: one }));
  const config = path.relative(root, realpathSync(path.join(root, CONFIG)));
  const all = merge(
    mistakes,
    others.filter((other) => isUseful(other, config)),
  );
  const diagnostics = (await withSource(diagnosticsInOrder(unique(all)), root)).map(leftOutside);
  if (snapshot === null || diagnostics.some(({ severity }) => severity === "error")) {
    const isCertain = diagnostics.some(({ edits }) => edits !== undefined);
    return { ok: false, diagnostics, ...(types && isCertain && { correctedFiles: await correct(diagnostics, types) }) };
  }
  const { recordOnly = [] } = loaded.lowered ?? {};
  return { ok: true, snapshot, hash: hashSnapshot(snapshot), warnings: diagnostics, recordOnly };
}

/** Outside of the author's folder nothing is corrected: a link, or an import, may lead to what other projects share. */
function leftOutside({ edits, ...told }: Diagnostic): Diagnostic {
  if (!edits) return told;
  if (!told.file?.startsWith("../")) return { ...told, edits };
  return { ...told, fix: `${told.fix}; --fix does not: the file is outside of the project's folder` };
}

/** What of the diagnostics can be corrected for certain, file by file. */
async function correct(diagnostics: readonly Diagnostic[], types: TypeChecker): Promise<CorrectedFile[]> {
  const files = diagnostics.flatMap(({ file, edits }) => (edits && file ? [file] : []));
  const names = [...new Set(files)];
  const texts = await types.texts(names);
  return texts.map((text, index) => {
    const own = diagnostics.filter(({ file }) => file === names[index]);
    return correctFile(names[index]!, text, own);
  });
}

/** Validates what the model became, as every reader of a snapshot does. Suspicions are looked for in a sound model only. */
function check(
  { found, lowered, locate }: Load,
  parse: typeof parseSnapshot,
): { found: Diagnostic[]; snapshot: Snapshot | null } {
  if (!lowered || !locate) return { found, snapshot: null };
  const told = [...found, ...loweredDiagnostics(lowered, locate, CONFIG)];
  if (lowered.snapshot === null) return { found: told, snapshot: null };
  const place = locationFinder(lowered, locate);
  const parsed = parse(lowered.snapshot);
  // Where an exception left a hole, what is missing or unused is its consequence.
  const isIncomplete = found.some(({ severity }) => severity === "error");
  if (!parsed.ok) {
    const problems = parsed.problems.filter((problem) => !isIncomplete || !isOfHole(problem));
    told.push(...problems.map((problem) => problemDiagnostic("error", problem, place)));
  }
  if (!parsed.ok || told.some(({ severity }) => severity === "error")) return { found: told, snapshot: null };
  const warnings = lint(parsed.snapshot, lowered.recordOnly).map((warning) =>
    problemDiagnostic("warning", warning, place),
  );
  return { found: [...told, ...warnings, ...unlistedDiagnostics(lowered, locate)], snapshot: parsed.snapshot };
}

/** Shapes that are wrong where a value could not be computed. */
const OF_HOLE =
  /^(is missing|must not be empty|must be (an? )?(object|string|finite number|whole number|boolean|array|text\b.*))$/;

function isOfHole({ code, message }: Problem): boolean {
  return code === "INVALID_SHAPE" && OF_HOLE.test(message);
}

/** What is no condition at all, or lacks a part, was refused by its type already; only what types cannot tell is left to say. */
const OF_TYPES =
  /(: must be ((an )?object|a finite number|string|boolean|array)|\bis missing|is not known here|\.kind: must be one of .*)$/;

/** Whether something is what an error of types becomes when it is run, and tells nothing new beside it. */
function isConsequence({ code, message }: Diagnostic): boolean {
  if (code === "MODEL_FAILED") return /\b(Type|Reference)Error: (?!.*before initialization)/.test(message);
  return code === "INVALID_SHAPE" && OF_TYPES.test(message);
}

/**
 * What is exported and listed nowhere may be meant for another model, unless the model's own file exports it. Only the syntax, which types
 * come with, tells what is exported; a function may make parts of several models.
 */
function isUseful({ diagnostic: { code, file }, place }: PlacedDiagnostic, config: string): boolean {
  return code !== UNLISTED || place?.isExported === false || (place?.isExported === true && file === config);
}

async function placed(found: readonly Diagnostic[], types: TypeChecker): Promise<PlacedDiagnostic[]> {
  const requests = found.map(({ file = "", line = 0, column = 0, endLine, message }) => ({
    location: { file, line, column },
    // What has an end already is exact.
    subjects: endLine === undefined ? subjectsOf(message) : [],
    path: endLine === undefined ? pathOf(message) : undefined,
  }));
  const places = await types.places(requests);
  return found.map((one, index) => ({ diagnostic: one, place: one.endLine === undefined ? places[index] : undefined }));
}
