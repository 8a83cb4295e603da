import type { Context } from "../../core/command.js";
import type { UserError } from "../../core/errors.js";
import { cancellable } from "../../output/interruption.js";
import { type Draft, draftFor } from "./draft.js";
import { shown } from "./live-text.js";
import { type AiValues, conclude, isForbidden, noAnswer, noteEnding, showsContext } from "./tell.js";

/** What a draft rests on. */
interface Basis {
  answers: Readonly<Record<string, unknown>>;
  /** The model that these answers make by themselves. */
  baseline: string;
}

/** Shows the model that answers make by themselves, then a language model's draft where there is one whose types are right. The file gets the last of them. */
export async function tellModel(context: Context, values: AiValues, basis: Basis): Promise<void> {
  const { out } = context;
  const { answers, baseline } = basis;
  const sent = { ...basis };
  if (showsContext(context, values, { task: "model-success", sent })) return;
  const { bold } = out.style;
  if (!out.json) out.print(`${bold("The model that your answers make")}\n\n${shown(baseline)}`);

  const { draft, failure } = await draftIfAny(context, sent, values.model);
  if (draft !== null && !out.json) out.print(draftInWords(context, draft));
  await conclude(context, values.output, {
    task: "model-success",
    facts: { answers, model: baseline },
    answer: draft,
    failure,
    page: () => draft?.source ?? baseline,
    written: draft === null ? "the model" : "the draft",
  });
}

async function draftIfAny(
  context: Context,
  sent: Readonly<Record<string, unknown>>,
  model: string | undefined,
): Promise<{ draft: Draft | null; failure: UserError | null }> {
  if (isForbidden(context)) return { draft: null, failure: null };
  try {
    const draft = await cancellable((stop) => draftFor(context, sent, model, stop));
    noteEnding(context, draft);
    return { draft, failure: null };
  } catch (error) {
    return { draft: null, failure: noAnswer(context, error).failure };
  }
}

function draftInWords({ out }: Context, { source, notes }: Draft): string {
  return [
    out.style.bold("A language model's draft. Its types are right; it was not run, so read it before you run it:"),
    shown(source).trimEnd(),
    ...(notes === "" ? [] : [shown(notes)]),
  ]
    .map((part, index) => (index === 0 ? `\n${part}` : part))
    .join("\n\n");
}
