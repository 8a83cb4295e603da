import { historyPageOf, loadedState, type PageRow } from "../../db/api/evaluation.js";
import type { ExplainedPart, explanationHistory, StoredForExplanation } from "../../db/api/customers.js";
import { explain, explainHealth, type HistoryRequest } from "../../engine/index.js";
import { Models } from "../../evaluation/models.js";
import { withHistory, type HistoryAnswer } from "../../evaluation/history.js";

/** What is to be explained. */
export interface ExplainJob {
  part: ExplainedPart;
  stored: StoredForExplanation;
}

/** What an explanation asks of whoever has the database. */
export interface ExplainQuestions {
  snapshot(version: number): Promise<unknown>;
  /** Answered as bytes, because decoding and parsing them takes long. */
  history(of: { request: HistoryRequest; pageSize: number }): Promise<HistoryBytes>;
}

/** Asks whoever runs a job; never settles where that fails, because the job is over then. */
export type AskStored = (question: string, input: unknown) => Promise<unknown>;

type HistoryBytes = Awaited<ReturnType<typeof explanationHistory>>;

interface Explained {
  /** Null where the state cannot be explained; `unavailable` says why then, in a word and in a sentence. */
  answer: object | null;
  unavailable: { code: "not_evaluated" | "evaluation_failed"; message: string } | null;
  /** False where finding out when conditions flip by time alone would have taken too much history: `flipsAt` is null then. */
  flipsKnown: boolean;
}

/** Of the thread, which is what explains. */
const models = new Models();

/** Explains a customer's state as it is stored, under the version that it was computed under: the document that is answered, as JSON. */
export async function explainStored({ part, stored }: ExplainJob, ask: AskStored): Promise<string> {
  const { answer, unavailable, flipsKnown } = await explainedState({ part, stored }, ask);
  const { customerId, asOf, configVersion, activeVersion, pending, setAside } = stored;
  const about = { customerId, asOf, configVersion, activeVersion, pending, setAside };
  if (part === "customer") {
    const nothing = { lifecycle: null, journeys: [], segments: [], health: null, signals: [] };
    return JSON.stringify({ ...about, unavailable, flipsKnown, ...(answer ?? nothing) });
  }
  const withoutHealth = {
    code: "no_health",
    message:
      configVersion === null
        ? "The customer was evaluated before a configuration was deployed."
        : `The version ${configVersion}, under which the customer's state was computed, has no health score.`,
  };
  const why = unavailable ?? (answer === null ? withoutHealth : null);
  return JSON.stringify({ ...about, unavailable: why, flipsKnown, score: stored.score, factors: answer });
}

async function explainedState({ part, stored }: ExplainJob, ask: AskStored): Promise<Explained> {
  if (stored.state === null) {
    const message =
      stored.setAside === null
        ? "The customer was not evaluated yet."
        : "The customer's first evaluation failed, and it was set aside; it has no state.";
    return { answer: null, unavailable: { code: "not_evaluated", message }, flipsKnown: true };
  }
  const model = await models.get(stored, (version) => ask("snapshot", version));
  const state = loadedState(stored);
  const explainPart = part === "health" ? explainHealth : explain;
  // What waits may change anything, and some of it may have been stored before now.
  const at = stored.pending === 0 && stored.setAside === null ? Date.now() : undefined;
  try {
    const found = await withHistory((history) => explainPart(model, state, { history, at }), historyFrom(ask));
    const answer = found === null ? explainPart(model, state, { flips: false, at }) : found.answer;
    return { answer, unavailable: null, flipsKnown: found !== null };
  } catch (error) {
    // What made its evaluation fail can make its explanation fail.
    if (stored.setAside === null) throw error;
    const message =
      "The customer was set aside because its evaluation failed, and its stored state cannot be explained either.";
    return { answer: null, unavailable: { code: "evaluation_failed", message }, flipsKnown: true };
  }
}

/** Asks for history, which comes as bytes. */
export function historyFrom(ask: AskStored) {
  return async (request: HistoryRequest, pageSize: number): Promise<HistoryAnswer> => {
    const { events, complete } = (await ask("history", { request, pageSize })) as HistoryBytes;
    const read = JSON.parse(new TextDecoder().decode(events)) as PageRow["events"];
    return { page: historyPageOf({ events: read, complete }, request), bytes: events.length };
  };
}
