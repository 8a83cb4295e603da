import type { Diagnostic } from "../../../dsl-compiler/index.js";
import type { Context } from "../../core/context.js";
import { countDiagnostics } from "../../output/diagnostics.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { ask, type Ending } from "./ask.js";
import { compileDraft, draftIn } from "./draft.js";

/** A model that a language model wrote, and that compiles. */
export interface Draft extends Ending {
  source: string;
  /** What was said beside it. */
  notes: string;
  warnings: Diagnostic[];
  /** How often was asked for it. */
  tries: number;
}

/** One that is not sound after so many is not going to be. */
const TRIES_MAX = 3;

/** What is wrong with an answer without a model in it. */
const NO_DRAFT: Diagnostic = {
  severity: "error",
  code: "DRAFT_MISSING",
  message: "the answer has no block of TypeScript that is a whole model",
  fix: "answer with one ```ts block that is the whole file",
};

/**
 * Asks for a draft until there is one that compiles, each time with what was wrong with the one before. None is run that is more than a
 * description of a model.
 *
 * @param sent what the draft is to rest on
 * @throws {UserError} DRAFT_REFUSED after the third, with its diagnostics; what asking throws
 */
export async function draftFor(
  context: Context,
  sent: Readonly<Record<string, unknown>>,
  model: string | undefined,
  stop: AbortSignal,
): Promise<Draft> {
  const { out } = context;
  let facts = sent;
  for (let tries = 1; ; tries++) {
    const { text, ending } = await answerTo(context, facts, model, stop);
    const draft = draftIn(text);
    const result =
      draft === null ? { ok: false as const, diagnostics: [NO_DRAFT] } : await compileDraft(draft.source, stop);
    stop.throwIfAborted();
    if (result.ok) return { ...ending, ...draft!, warnings: result.warnings, tries };
    const { diagnostics } = result;
    const errors = countDiagnostics(diagnostics);
    if (tries === TRIES_MAX) throw refused(diagnostics, errors);
    out.note(`The language model's draft has ${errors}; asking it to correct them …`);
    facts = { ...sent, draft: draft?.source ?? "", diagnostics: diagnostics.map(toldOf) };
  }
}

async function answerTo(
  context: Context,
  facts: Readonly<Record<string, unknown>>,
  model: string | undefined,
  stop: AbortSignal,
): Promise<{ text: string; ending: Ending }> {
  const parts = ask(context, { task: "model-success", facts, model }, stop);
  let text = "";
  for (let next = await parts.next(); ; next = await parts.next()) {
    if (next.done === true) return { text, ending: next.value };
    text += next.value;
  }
}

function toldOf({ code, message, line, column, fix }: Diagnostic): object {
  return { code, message, line, column, fix };
}

function refused(diagnostics: readonly Diagnostic[], errors: string): UserError {
  return new UserError(
    "DRAFT_REFUSED" satisfies LocalCode,
    `the language model's draft is no sound model: after ${TRIES_MAX} tries it has ${errors}`,
    "go on from the model above, or ask again",
    { diagnostics },
  );
}
