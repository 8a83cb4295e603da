import type { StoredForTimeTravel } from "../../db/api/customers.js";
import { loadedState } from "../../db/api/evaluation.js";
import type { PageEnd } from "../../db/api/recompute.js";
import { emissionDocument, explain, type ExplainOptions, stateDocument } from "../../engine/index.js";
import { PastEvents } from "../../evaluation/past-events.js";
import { type ReplayedPage, eventParts } from "../../evaluation/replayed-events.js";
import { type PastState, travelTo } from "../../evaluation/time-travel.js";
import { ApiError } from "../errors.js";
import { type AskStored, type ExplainQuestions, historyFrom, models, withFlips } from "./explain-stored.js";

/** The input of time travel: the requested part of a customer at an instant. */
export interface TravelJob {
  part: "state" | "explanation" | "timeline";
  stored: StoredForTimeTravel;
  environment: string;
  /** In ms since the epoch. */
  at: number;
  /** For a timeline: the most emissions, and whether the order is reversed. */
  limit: number;
  reverse: boolean;
}

/** The questions of time travel to the main thread, which has the database. */
export interface TravelQuestions extends ExplainQuestions {
  /** A page as JSON in UTF-8. */
  events(of: { after: PageEnd; propertyEvents: readonly string[] }): Promise<Uint8Array>;
}

/** Replays a customer's history up to an instant. Returns the answer as JSON. Throws 404 if the customer did not exist at that instant. */
export async function travelStored(job: TravelJob, ask: AskStored): Promise<string> {
  const { stored, at } = job;
  const model = await models.get(stored, (version) => ask("snapshot", version));
  const propertyEvents = [...model.propertyEvents];
  const history = historyFrom(ask);
  const past = new PastEvents(async (request, pageSize) => (await history(request, pageSize)).page);
  const parts = eventParts(async (after) => pageOf((await ask("events", { after, propertyEvents })) as Uint8Array));
  const emissionsMax = job.part === "timeline" ? job.limit : 0;
  const travelled = await travelTo({ model, input: loadedState(stored), at, parts, past, emissionsMax });
  const instant = new Date(at).toISOString();
  if (travelled === null) {
    const message = `The customer did not exist at ${instant}: none of its stored history is as old.`;
    throw new ApiError(404, "CUSTOMER_NOT_FOUND", { message, field: "at", fix: "Use a later instant." });
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
      const explainWith = (options: ExplainOptions) => explain(model, state, { ...options, at });
      const { answer, flipsKnown } = await withFlips(explainWith, history, (source) => past.bounded(source));
      const { customerId } = stored;
      const nothingPending = { pending: 0, setAside: null, unavailable: null };
      return JSON.stringify({
        customerId,
        configVersion,
        activeVersion,
        ...nothingPending,
        flipsKnown,
        ...about,
        ...answer,
      });
    }
  }
}

/** The document as JSON with the stored text of the traits, so that numbers keep all their digits. */
function withTraits(document: object, { traitsText }: StoredForTimeTravel): string {
  const members = Object.entries(document).map(
    ([name, value]) => `${JSON.stringify(name)}:${name === "traits" ? traitsText : JSON.stringify(value)}`,
  );
  return `{${members.join()}}`;
}

function timelineOf({ emissions, omitted }: PastState, { stored: { configVersion }, reverse }: TravelJob) {
  const data = emissions.map((emission) => ({ ...emissionDocument(emission), configVersion }));
  return { data: reverse ? data.reverse() : data, nextCursor: null, omitted };
}

function pageOf(bytes: Uint8Array): ReplayedPage {
  return JSON.parse(new TextDecoder().decode(bytes)) as ReplayedPage;
}
