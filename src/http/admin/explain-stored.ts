import { historyPageOf, loadedState, type PageRow } from "../../db/api/evaluation.js";
import type { ExplainedPart, explanationHistory, StoredForExplanation } from "../../db/api/customers.js";
import { explain, explainHealth, type HistoryRequest, type HistorySource } from "../../engine/index.js";
import { Models } from "../../evaluation/models.js";
import { withHistory, type HistoryAnswer } from "../../evaluation/history.js";

/** The input of an explanation. */
export interface ExplainJob {
  part: ExplainedPart;
  stored: StoredForExplanation;
}

/** The questions of an explanation to the main thread, which has the database. */
export interface ExplainQuestions {
  snapshot(version: number): Promise<unknown>;
  /** Returns bytes, because decoding and parsing them takes long and is done in the thread. */
  history(of: { request: HistoryRequest; pageSize: number }): Promise<HistoryBytes>;
}

/** Asks the main thread a question. If it fails, the promise never settles, because the job has then ended. */
export type AskStored = (question: string, input: unknown) => Promise<unknown>;

type HistoryBytes = Awaited<ReturnType<typeof explanationHistory>>;

interface Explained {
  /** Null if the state cannot be explained; `unavailable` then has the reason as a code and a sentence. */
  answer: object | null;
  unavailable: { code: "not_evaluated" | "evaluation_failed"; message: string } | null;
  /** False if determining when conditions flip by time alone would have required too much history; `flipsAt` is then null. */
  flipsKnown: boolean;
}

/** The compiled models of this thread. */
export const models = new Models();

/** Explains a customer's stored state with the version with which it was computed. Returns the answer as JSON. */
export async function explainStored({ part, stored }: ExplainJob, ask: AskStored): Promise<string> {
  const { answer, unavailable, flipsKnown } = await explainedState({ part, stored }, ask);
  const { customerId, asOf, configVersion, activeVersion, pending, setAside } = stored;
  const about = { customerId, asOf, configVersion, activeVersion, pending, setAside };
  if (part === "customer") {
    const unexplained = { lifecycle: null, journeys: [], segments: [], health: null, signals: [] };
    return JSON.stringify({ ...about, unavailable, flipsKnown, ...(answer ?? unexplained) });
  }
  const noHealth = {
    code: "no_health",
    message:
      configVersion === null
        ? "The customer was evaluated before a configuration was deployed."
        : `The version ${configVersion}, with which the customer's state was computed, has no health score.`,
  };
  const reason = unavailable ?? (answer === null ? noHealth : null);
  return JSON.stringify({ ...about, unavailable: reason, flipsKnown, score: stored.score, factors: answer });
}

async function explainedState({ part, stored }: ExplainJob, ask: AskStored): Promise<Explained> {
  if (stored.state === null) {
    const message =
      stored.setAside === null
        ? "The customer has not been evaluated yet."
        : "The customer's first evaluation failed, and it was set aside; it has no state.";
    return { answer: null, unavailable: { code: "not_evaluated", message }, flipsKnown: true };
  }
  const model = await models.get(stored, (version) => ask("snapshot", version));
  const state = loadedState(stored);
  const explainPart = part === "health" ? explainHealth : explain;
  // Pending operations can change anything, and may have been stored before now, so the state is then explained as of its evaluation.
  const at = stored.pending === 0 && stored.setAside === null ? Date.now() : undefined;
  try {
    const explained = await withFlips((options) => explainPart(model, state, { ...options, at }), historyFrom(ask));
    return { ...explained, unavailable: null };
  } catch (error) {
    // The error that made the evaluation of a set-aside customer fail can make its explanation fail, too.
    if (stored.setAside === null) throw error;
    const message =
      "The customer was set aside because its evaluation failed, and its stored state cannot be explained either.";
    return { answer: null, unavailable: { code: "evaluation_failed", message }, flipsKnown: true };
  }
}

/**
 * An explanation with the instants at which conditions flip, or without them if determining them would require too much history.
 *
 * @param bound limits what the explanation may read of the loaded history
 */
export async function withFlips<Answer>(
  explainWith: (options: { history: HistorySource } | { flips: false }) => Answer,
  fetch: ReturnType<typeof historyFrom>,
  bound = (source: HistorySource) => source,
): Promise<{ answer: Answer; flipsKnown: boolean }> {
  const explained = await withHistory((source) => explainWith({ history: bound(source) }), fetch);
  return {
    answer: explained === null ? explainWith({ flips: false }) : explained.answer,
    flipsKnown: explained !== null,
  };
}

/** A source of history that asks the main thread for it. */
export function historyFrom(ask: AskStored) {
  return async (request: HistoryRequest, pageSize: number): Promise<HistoryAnswer> => {
    const { events, complete } = (await ask("history", { request, pageSize })) as HistoryBytes;
    const read = JSON.parse(new TextDecoder().decode(events)) as PageRow["events"];
    return { page: historyPageOf({ events: read, complete }, request), bytes: events.length };
  };
}
