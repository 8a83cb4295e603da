import type { StoredForTimeTravel } from "../../db/api/customers.js";
import { loadedState } from "../../db/api/evaluation.js";
import type { PageEnd } from "../../db/api/recompute.js";
import { emissionDocument, explain, stateDocument } from "../../engine/index.js";
import { withHistory } from "../../evaluation/history.js";
import { Models } from "../../evaluation/models.js";
import { PastEvents } from "../../evaluation/past-events.js";
import { type ReplayedPage, inParts } from "../../evaluation/replayed-events.js";
import { type Travelled, travelTo } from "../../evaluation/time-travel.js";
import { ApiError } from "../errors.js";
import { type AskStored, type ExplainQuestions, historyFrom } from "./explain-stored.js";

/** What is asked of a customer at an instant. */
export interface TravelJob {
  part: "state" | "explanation" | "timeline";
  stored: StoredForTimeTravel;
  environment: string;
  /** In milliseconds. */
  at: number;
  /** Of a timeline. */
  limit: number;
  reverse: boolean;
}

/** What time travel asks of whoever has the database. */
export interface TravelQuestions extends ExplainQuestions {
  /** A page as JSON in UTF-8. */
  events(of: { after: PageEnd; propertyEvents: readonly string[] }): Promise<Uint8Array>;
}

/** Of the thread, which is what replays. */
const models = new Models();

/** A customer as the replay of its history up to an instant has it: the document that is answered, as JSON. Throws 404 where there was none by then. */
export async function travelStored(job: TravelJob, ask: AskStored): Promise<string> {
  const { stored, at } = job;
  const model = await models.get(stored, (version) => ask("snapshot", version));
  const propertyEvents = [...model.propertyEvents];
  const history = historyFrom(ask);
  const past = new PastEvents(async (request, pageSize) => (await history(request, pageSize)).page);
  const parts = inParts(async (after) => pageOf((await ask("events", { after, propertyEvents })) as Uint8Array));
  const emissionsMax = job.part === "timeline" ? job.limit : 0;
  const travelled = await travelTo({ model, input: loadedState(stored), at, parts, past, emissionsMax });
  const instant = new Date(at).toISOString();
  if (travelled === null) {
    const message = `The customer had not begun by ${instant}: nothing that is kept of it is as old.`;
    throw new ApiError(404, "CUSTOMER_NOT_FOUND", { message, field: "at", fix: "Name a later instant." });
  }
  const { state } = travelled;
  const { configVersion, activeVersion, exactFrom } = stored;
  const about = { at: instant, exactFrom };
  switch (job.part) {
    case "state":
      return withTraits({ ...stateDocument(state, { environment: job.environment, configVersion }), ...about }, stored);
    case "timeline":
      return JSON.stringify({ ...timelineOf(travelled, job), ...about, configVersion });
    case "explanation": {
      // Nothing was due since its clock, so it stands there as it does at the instant; what is measured goes on.
      const then = { ...state, evaluatedThrough: at };
      const found = await withHistory(
        (source) =>
          explain(model, then, {
            history: (request) => {
              const bounded = past.bounded(request);
              return bounded === null ? { events: [], complete: true } : source(bounded);
            },
          }),
        history,
      );
      const why = found === null ? explain(model, then, { flips: false }) : found.answer;
      const { customerId } = stored;
      const flipsKnown = found !== null;
      const nothing = { pending: 0, setAside: null, unavailable: null };
      return JSON.stringify({
        customerId,
        configVersion,
        activeVersion,
        ...nothing,
        flipsKnown,
        ...about,
        ...why,
      });
    }
  }
}

/** The traits as they are kept: numbers with all their digits. */
function withTraits(document: object, { traitsText }: StoredForTimeTravel): string {
  const members = Object.entries(document).map(
    ([name, value]) => `${JSON.stringify(name)}:${name === "traits" ? traitsText : JSON.stringify(value)}`,
  );
  return `{${members.join()}}`;
}

function timelineOf({ emissions, omitted }: Travelled, { stored: { configVersion }, reverse }: TravelJob) {
  const data = emissions.map((emission) => ({ ...emissionDocument(emission), configVersion }));
  return { data: reverse ? data.reverse() : data, nextCursor: null, omitted };
}

function pageOf(bytes: Uint8Array): ReplayedPage {
  return JSON.parse(new TextDecoder().decode(bytes)) as ReplayedPage;
}
