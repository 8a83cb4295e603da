import {
  beginExplanation,
  explanationHistory,
  explanationSnapshot,
  type ExplanationOf,
  type StoredForExplanation,
} from "../../db/calls-explanation.js";
import { onSnapshot } from "../../db/transaction.js";
import type { CustomerState, ExplainOptions, Model } from "../../engine/index.js";
import { stateOf } from "../../evaluation/stored-state.js";
import { withHistory } from "../../evaluation/with-history.js";
import type { CustomerWork } from "./customer-work.js";

/** Why there is no explanation, in a word and in a sentence. */
export interface Unavailable {
  code: "not_evaluated" | "no_health" | "evaluation_failed";
  message: string;
}

export interface ExplainedState<T> {
  stored: StoredForExplanation;
  /** Null where the state cannot be explained; `unavailable` says why then. */
  answer: T | null;
  unavailable: Unavailable | null;
  /** False where finding out when conditions flip by time alone would have taken too much history: `flipsAt` is null then. */
  flipsKnown: boolean;
}

/**
 * Explains a customer's state as it is stored, under the version that it was computed under, on one snapshot of the database.
 *
 * @throws {Error} what `begin_explanation` raises; QueueFullError where too many are being explained
 */
export function explainStored<T>(
  work: CustomerWork,
  of: ExplanationOf,
  explain: (model: Model, state: CustomerState, options: ExplainOptions) => T,
): Promise<ExplainedState<T>> {
  return work.explanations.run(() =>
    onSnapshot(work.sql, async (tx) => {
      const stored = await beginExplanation(tx, of);
      if (stored.state === null) return unexplained(stored, notEvaluated(stored));
      const model = await work.models.get(stored, (version) => explanationSnapshot(tx, of, version));
      const state = stateOf(stored);
      try {
        const found = await withHistory(
          (history) => explain(model, state, { history }),
          (requests, pageSize) => explanationHistory(tx, of, requests, pageSize),
        );
        const answer = found === null ? explain(model, state, { flips: false }) : found.answer;
        return { stored, answer, unavailable: null, flipsKnown: found !== null };
      } catch (error) {
        // What made its evaluation fail can make its explanation fail. Of the database it is not.
        if (stored.setAside === null || (error as { code?: unknown }).code !== undefined) throw error;
        return unexplained(stored, evaluationFailed());
      }
    }),
  );
}

function unexplained(stored: StoredForExplanation, unavailable: Unavailable): ExplainedState<never> {
  return { stored, answer: null, unavailable, flipsKnown: true };
}

function notEvaluated({ setAside }: StoredForExplanation): Unavailable {
  const message =
    setAside === null
      ? "The customer was not evaluated yet."
      : "The customer's first evaluation failed, and it was set aside; it has no state.";
  return { code: "not_evaluated", message };
}

function evaluationFailed(): Unavailable {
  return {
    code: "evaluation_failed",
    message:
      "The customer was set aside because its evaluation failed, and its stored state cannot be explained either.",
  };
}

/** Where the model has no health. */
export function noHealth({ configVersion }: StoredForExplanation): Unavailable {
  const message =
    configVersion === null
      ? "The customer was evaluated before a configuration was deployed."
      : `The version ${configVersion}, under which the customer's state was computed, has no health score.`;
  return { code: "no_health", message };
}
