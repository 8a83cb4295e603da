import Type from "typebox";
import { call, callBytes } from "../../db/api/call.js";
import { explanationHistory } from "../../db/api/customers.js";
import { onSnapshot } from "../../db/transaction.js";
import { pastInstantOf } from "../request/instants.js";
import { type environmentQuery, nameFilter } from "./parameters.js";
import type { AdminCall } from "./route.js";
import { instant, orNull } from "./schemas.js";
import type { TravelJob, TravelQuestions } from "./travel-stored.js";

/** `?at=`: an instant that has passed. */
export const pastQuery = {
  at: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: "An instant, a date (00:00 UTC), or how long ago, for example `7d`; by default now.",
    }),
  ),
};

/** `?at=&version=`: a customer at an instant, by a replay under a version. */
export const travelQuery = { ...pastQuery, version: nameFilter };

export const travelRefusals = { 404: ["VERSION_NOT_FOUND"] };

/** Additional members of an answer about an instant. */
export const travelAnswer = {
  at: Type.Optional({ ...instant, description: "The requested instant, with time travel." }),
  exactFrom: Type.Optional(
    orNull(
      instant,
      "With time travel: since when all events are stored, if retention may have removed earlier ones; otherwise null.",
    ),
  ),
};

/** Whether a request names an instant or a version. */
export const isTravel = ({ at, version }: Travel): boolean => at !== undefined || version !== undefined;

interface Travel {
  at?: string;
  version?: string;
}

type TravelCall = Pick<AdminCall<typeof environmentQuery, never>, "deps" | "credentials" | "at" | "params"> & {
  query: Travel;
};

/** Reads the data in one snapshot of the database, and replays it in the thread. */
export function travel(
  { deps: { work }, credentials: by, at, params, query }: TravelCall,
  part: TravelJob["part"],
  { limit, reverse }: Pick<TravelJob, "limit" | "reverse"> = { limit: 0, reverse: false },
): Promise<string> {
  const customerId = params["customerId"]!;
  const until = requestedInstant(query.at).getTime();
  const replay = () =>
    onSnapshot(work.sql, async (tx) => {
      const stored = await call(tx, "begin_time_travel", by, at, customerId, query.version);
      const wholeCustomer = "customer";
      const answers: TravelQuestions & Record<string, (input: never) => Promise<unknown>> = {
        snapshot: (version) => call(tx, "explanation_snapshot", by, at, version, wholeCustomer),
        history: ({ request, pageSize }) =>
          explanationHistory(tx, { by, at, customerId, part: wholeCustomer }, request, pageSize),
        events: ({ after, propertyEvents }) =>
          callBytes(tx, "time_travel_events", by, at, customerId, after, [...propertyEvents]),
      };
      const job: TravelJob = { part, stored, environment: at.environment, at: until, limit, reverse };
      return work.thread.run("travelStored", job, { answers });
    });
  return work.explanations.run(replay, by.organizationId);
}

/** The instant that `at` names, by default now. Throws VALIDATION_ERROR if it is not valid or in the future. */
export function requestedInstant(at: string | undefined): Date {
  return at === undefined ? new Date() : pastInstantOf(at);
}
