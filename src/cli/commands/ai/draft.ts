import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

import { checkTypes, type Diagnostic } from "../../../dsl-compiler/index.js";
import type { Context } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import { countDiagnostics } from "../../output/diagnostics.js";
import { paragraphs, UNPRINTABLE } from "../../../words/text.js";
import { ask, type Ending, type Facts, printableLines } from "./tell.js";

/**
 * Drafts of models, written by a language model. Such a text is untrusted: it may contain anything, by mistake or because of injected
 * words in the question. So it is never run here: only its types are checked, and a person reads it and decides whether to run it.
 */

const CONFIG = "svc.config.ts";
/** Ten times the size of the largest example model. */
const BYTES_MAX = 65_536;
/** Mistakes reported per draft. */
const MISTAKES_MAX = 20;
/** A draft that is not valid after this many tries will not become so. */
const TRIES_MAX = 3;

/** A draft extracted from an answer. */
export interface DraftInAnswer {
  /** Ends with a line break. */
  source: string;
  /** The text around it. */
  notes: string;
}

/** A draft whose types are right. */
export interface Draft extends Ending, DraftInAnswer {
  tries: number;
}

/** The first block of TypeScript (```ts) in an answer; null if it is missing, unterminated, exports no model, or is larger than 64 KiB. */
export function draftIn(text: string): DraftInAnswer | null {
  const lines = text.split(/\r?\n/);
  const first = lines.findIndex((line) => /^ {0,3}`{3,}(ts|typescript)\b/i.test(line));
  if (first < 0) return null;
  const fence = /`{3,}/.exec(lines[first]!)![0];
  const length = lines.slice(first + 1).findIndex((line) => line.trim().startsWith(fence) && /^`+$/.test(line.trim()));
  if (length < 0) return null;
  const end = first + 1 + length;
  const source = `${lines.slice(first + 1, end).join("\n")}\n`;
  if (Buffer.byteLength(source) > BYTES_MAX || !/^ *export default defineModel\(/m.test(source)) return null;
  return { source, notes: [...lines.slice(0, first), "", ...lines.slice(end + 1)].join("\n").trim() };
}

/** Things that would hide a part of a draft from a reader or the type checker. */
const HIDING: readonly (readonly [pattern: RegExp, message: string])[] = [
  [new RegExp(`(?!\\t|\\r?\\n)(?:${UNPRINTABLE.source})`, "gu"), "a character here cannot be seen"],
  [/@ts-(ignore|nocheck|expect-error)/g, "a comment keeps types from being checked"],
];

/**
 * The mistakes in a draft, at most twenty, as the compiler's diagnostics and `DRAFT_NOT_ALLOWED`. Only its types are checked, in a separate
 * folder from which no other file is read, and nothing is run.
 */
export async function draftMistakes(source: string, signal?: AbortSignal): Promise<Diagnostic[]> {
  const hidden = HIDING.flatMap(([pattern, message]) =>
    [...source.matchAll(pattern)].map(({ index }) => notAllowed(source, index, message)),
  );
  const mistakes = hidden.length > 0 ? hidden : await typeMistakes(source, signal);
  return mistakes.slice(0, MISTAKES_MAX);
}

async function typeMistakes(source: string, signal: AbortSignal | undefined): Promise<Diagnostic[]> {
  const directory = await mkdtemp(path.join(os.tmpdir(), "svc-draft-"));
  try {
    await writeFile(path.join(directory, CONFIG), source, { mode: 0o600 });
    return await checkTypes(directory, { sealed: true, ...(signal && { signal }) });
  } catch (error) {
    // Deep nesting overflows the parser's call stack.
    if (error instanceof RangeError) return [notAllowed(source, 0, "its parts are nested too deeply")];
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function notAllowed(source: string, offset: number, message: string): Diagnostic {
  const before = source.slice(0, offset);
  const line = before.split("\n").length;
  const place = { file: CONFIG, line, column: offset - before.lastIndexOf("\n") };
  return { code: "DRAFT_NOT_ALLOWED", severity: "error", message, ...place, fix: "leave it out" };
}

const NO_DRAFT: Diagnostic = {
  severity: "error",
  code: "DRAFT_MISSING",
  message: "the answer has no block of TypeScript that is a whole model",
  fix: "answer with one ```ts block that is the whole file, with export default defineModel(…)",
};

/**
 * Asks for a draft until its types are right, each time with the mistakes of the previous one. @throws {UserError} DRAFT_REFUSED after
 * three tries; what asking throws
 */
async function draftFor(
  context: Context,
  sent: Readonly<Record<string, unknown>>,
  model: string | undefined,
  stop: AbortSignal,
): Promise<Draft> {
  let question = { task: "model-success" as const, sent };
  for (let tries = 1; ; tries++) {
    let text = "";
    const ending = await ask(context, question, model, stop, (part) => (text += part));
    const draft = draftIn(text);
    const diagnostics = draft === null ? [NO_DRAFT] : await draftMistakes(draft.source, stop);
    stop.throwIfAborted();
    if (draft !== null && diagnostics.length === 0) return { ...ending, ...draft, tries };
    const errors = countDiagnostics(diagnostics);
    if (tries === TRIES_MAX) {
      const message = `the language model's draft is not a valid model: after ${TRIES_MAX} tries it has ${errors}`;
      throw failure("DRAFT_REFUSED", message, "continue with the model above, or ask again", undefined, {
        problems: diagnostics,
      });
    }
    context.out.note(`The language model's draft has ${errors}; asking it to correct them …`);
    const reported = diagnostics.map(({ code, message, line, column, fix }) => ({ code, message, line, column, fix }));
    question = { ...question, sent: { ...sent, draft: draft?.source ?? "", diagnostics: reported } };
  }
}

/**
 * The baseline, which is the model made from the answers alone, and a language model's draft. @param model the language model to ask; the
 * operator's unless given
 */
export function draftFacts(
  context: Context,
  { answers, baseline }: { answers: Readonly<Record<string, unknown>>; baseline: string },
  model: string | undefined,
): Facts {
  const { bold } = context.out.style;
  const sent = { answers, baseline };
  let draft: Draft | undefined;
  return {
    task: "model-success",
    document: { answers, model: baseline },
    text: () => `${bold("The model made from your answers")}\n\n${printableLines(baseline)}`,
    sent,
    draft: {
      ask: async (stop) => (draft = await draftFor(context, sent, model, stop)),
      text: () => {
        const heading = "A language model's draft. Its types are right; it was not run, so read it before you run it:";
        const { source, notes } = draft!;
        return paragraphs([`\n${bold(heading)}`, printableLines(source).trimEnd(), printableLines(notes)]);
      },
      page: () => draft?.source ?? baseline,
      written: () => (draft === undefined ? "the model" : "the draft"),
    },
  };
}
