import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import type typescript from "typescript";

import { compileProject, type CompileResult, type Diagnostic } from "../../../dsl-compiler/index.js";
import type { Found } from "./draft-language.js";
import { DraftSyntax } from "./draft-syntax.js";
import { tokenMistakes, tooDeep } from "./draft-tokens.js";

/**
 * Models that a language model wrote. Such a text is nobody's intention: it may hold anything, by mistake or because somebody else's words
 * got into what was asked. So it is never run unless it is made of the model language alone, which can do nothing but describe a model.
 */

const CONFIG = "svc.config.ts";
/** Ten times the largest model of the examples. */
const BYTES_MAX = 65_536;
/** What is told of one draft: nobody reads more. */
const MISTAKES_MAX = 20;

/** A draft as it stands in an answer. */
export interface DraftInAnswer {
  /** With a line break at its end. */
  source: string;
  /** What stands around it. */
  notes: string;
}

/** The first block of TypeScript (```ts) in an answer; null where there is none, where it does not end, or where it is larger than 64 KiB. */
export function draftIn(text: string): DraftInAnswer | null {
  const lines = text.split(/\r?\n/);
  const first = lines.findIndex((line) => /^ {0,3}`{3,}(ts|typescript)\b/i.test(line));
  if (first < 0) return null;
  const fence = /`{3,}/.exec(lines[first]!)![0];
  const length = lines.slice(first + 1).findIndex((line) => line.trim().startsWith(fence) && /^`+$/.test(line.trim()));
  if (length < 0) return null;
  const end = first + 1 + length;
  const source = `${lines.slice(first + 1, end).join("\n")}\n`;
  if (Buffer.byteLength(source) > BYTES_MAX) return null;
  return { source, notes: [...lines.slice(0, first), "", ...lines.slice(end + 1)].join("\n").trim() };
}

/**
 * What keeps a draft from being compiled, in the order of the text, at most twenty of it; nothing is run to find it. Empty where the draft
 * is made of the model language alone. The diagnostics have the form of the compiler's, with codes `DRAFT_NOT_ALLOWED`,
 * `DRAFT_TOO_LARGE`, `DRAFT_TOO_DEEP` and `SYNTAX_ERROR`.
 */
export function draftMistakes(source: string): Diagnostic[] {
  const bytes = Buffer.byteLength(source);
  if (bytes > BYTES_MAX) {
    const message = `the draft has ${bytes} bytes; at most ${BYTES_MAX} are read`;
    return [
      { code: "DRAFT_TOO_LARGE", severity: "error", message, file: CONFIG, line: 1, column: 1, fix: "shorten it" },
    ];
  }
  const found = foundIn(source).sort((a, b) => a.start - b.start || a.end - b.end);
  const lines = source.split(/\r?\n/);
  return found.slice(0, MISTAKES_MAX).map(({ start, end, code, message, fix }) => {
    const [line, column] = placeIn(source, start);
    const [endLine, endColumn] = placeIn(source, end);
    const shown = lines.slice(line - 1, Math.min(endLine, line + 3));
    const place = { file: CONFIG, line, column, endLine, endColumn, source: shown };
    return { code, severity: "error", message, ...place, fix };
  });
}

/**
 * Compiles a draft as a project of that one file, with types, in a directory of its own that is removed afterwards. A draft with mistakes
 * of `draftMistakes` is not run: those are the diagnostics then.
 *
 * @param signal ends what takes longest, the check of types
 */
export async function compileDraft(source: string, signal?: AbortSignal): Promise<CompileResult> {
  const diagnostics = draftMistakes(source);
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-draft-"));
  try {
    await writeFile(path.join(directory, CONFIG), source, { mode: 0o600 });
    // A model that is described alone prints nothing.
    return await compileProject(directory, { types: true, onOutput: () => undefined, ...(signal && { signal }) });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function foundIn(source: string): Found[] {
  // Importing it would read its nine megabytes twice more.
  const ts = createRequire(import.meta.url)("typescript") as typeof typescript;
  const words = tokenMistakes(ts, source);
  if (words.length > 0) return words;
  try {
    const file = ts.createSourceFile(CONFIG, source, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
    const program = ts.createProgram([CONFIG], { noResolve: true, noLib: true, types: [] }, hostOf(file));
    const errors = program.getSyntacticDiagnostics(file).map(({ start, length, messageText }): Found => ({
      start,
      end: start + length,
      code: "SYNTAX_ERROR",
      message: ts.flattenDiagnosticMessageText(messageText, " "),
      fix: "correct what stands there or just before it",
    }));
    if (errors.length > 0) return errors;
    const syntax = new DraftSyntax(ts, file);
    syntax.read();
    return syntax.found;
  } catch (error) {
    // What is nested without brackets, as `a => a => a …`, may go deeper than the parser's calls.
    if (error instanceof RangeError) return [tooDeep(0, 0)];
    throw error;
  }
}

/** A program of one file that is in memory, and of nothing else. */
function hostOf(file: typescript.SourceFile): typescript.CompilerHost {
  return {
    getSourceFile: (name) => (name === CONFIG ? file : undefined),
    fileExists: (name) => name === CONFIG,
    readFile: () => undefined,
    getDefaultLibFileName: () => "",
    getCurrentDirectory: () => "",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    writeFile: () => undefined,
  };
}

/** The line and the column, from 1, of an offset. */
function placeIn(source: string, offset: number): [line: number, column: number] {
  const before = source.slice(0, offset);
  return [before.split("\n").length, offset - before.lastIndexOf("\n")];
}
