import Type from "typebox";
import { isObject, jsonOf } from "../../words/text.js";
import { invalidField } from "../errors.js";
import { secondsOf } from "../request/instants.js";
import { emptyObject, environmentQuery, KIB, listQuery, nameFilter, includeSuperseded } from "./parameters.js";
import { adminRoute } from "./route.js";
import {
  isTravel,
  pastQuery,
  requestedInstant,
  travel,
  travelAnswer,
  travelQuery,
  travelRefusals,
} from "./time-travel.js";
import {
  count,
  countOf,
  describedText,
  environment,
  exact,
  formerly,
  instant,
  jsonObject,
  listOf,
  mapOf,
  named,
  orNull,
  superseded,
  versionName,
} from "./schemas.js";

export const customerId = describedText("The customer's id in the caller's system.", "globex");
const lifecycle = orNull(Type.String(), "The present lifecycle state; null if the model has no lifecycle.");

const points = Type.Number({ minimum: 0, maximum: 100 });

export const healthScore = named("HealthScore", "A health score with its known components and its band.", {
  overall: points,
  components: mapOf(points),
  band: Type.String(),
});

const stepsData = Type.Object(
  {},
  {
    additionalProperties: exact({
      completedAt: instant,
      triggeredBy: describedText("The id of the event that completed it; `identify` or `timer` if no event did."),
    }),
    description: "The completed steps by id.",
  },
);

export const runStatus = Type.Enum(["active", "complete", "expired"]);
export const currentStep = describedText("The first step that is not completed; the last step if the run is complete.");

/** When a run of a journey started, and how it ended. */
export const runSpan = { startedAt: instant, completedAt: orNull(instant), expiredAt: orNull(instant) };

export const journeyRun = named("JourneyProgress", {
  journeyId: Type.String(),
  status: runStatus,
  currentStep,
  stepsData,
  ...runSpan,
});

export const raisedSignal = named("RaisedSignal", {
  signalId: Type.String(),
  severity: Type.Enum(["info", "warning", "critical"]),
  message: orNull(Type.String()),
  raisedAt: instant,
});

export const setAside = orNull(
  named("SetAside", { at: instant, error: orNull(Type.String()) }),
  "When and why the customer was set aside, because its evaluation failed; null if it was not.",
);

export const customerState = named("CustomerState", {
  customerId,
  environment,
  createdAt: instant,
  lastEventAt: orNull(instant),
  evaluatedThrough: orNull(instant, "The instant up to which the customer is evaluated."),
  configVersion: orNull(versionName, "The version with which the state was last evaluated."),
  traits: jsonObject("The present traits."),
  lifecycle,
  lifecycleEnteredAt: orNull(instant),
  segments: Type.Array(Type.String()),
  health: orNull(healthScore),
  journeys: Type.Array(journeyRun),
  signals: Type.Array(raisedSignal),
  nextDueAt: orNull(instant, "The earliest instant at which the state changes without a new operation."),
  ...travelAnswer,
});

export const listedCustomer = named("Customer", {
  customerId,
  lifecycle,
  lifecycleEnteredAt: orNull(instant),
  segments: Type.Array(Type.String()),
  health: orNull(healthScore),
  healthWeekAgo: orNull(Type.Number({ minimum: 0, maximum: 100 }), "The overall score seven days ago."),
  signals: Type.Array(raisedSignal),
  journeys: Type.Array(journeyRun),
  lastEventAt: orNull(instant),
  createdAt: instant,
  setAside,
});

export const backlog = named("Backlog", {
  pending: countOf("Operations that wait for evaluation."),
  ahead: countOf("Those of them whose time is in the future."),
  setAside,
});

const released = exact({ released: count });

export const CAUSES = ["event", "identify", "timer", "job"] as const;

export const cause = exact({
  type: Type.Enum([...CAUSES]),
  id: orNull(Type.String(), "The id of the event or job."),
});

export const source = describedText("The part of the model that emitted it: lifecycle, segment, …", "lifecycle");

export const eventType = Type.String({ examples: ["customer.activated"] });

/** The members of an emission in every list. */
export const emissionMembers = {
  eventType,
  source,
  metadata: jsonObject("Details, which depend on the type."),
  timestamp: instant,
  cause,
  configVersion: orNull(versionName),
};

export const emission = named("Emission", {
  id: Type.String({ examples: ["emi_0000000000000400"] }),
  ...emissionMembers,
  at: formerly(instant, "timestamp"),
  type: formerly(eventType, "eventType"),
});

const recordQuery = exact({ ...listQuery.properties, superseded: includeSuperseded });

export const transition = named("LifecycleTransition", {
  from: orNull(Type.String(), "The state that was left; null for the first transition."),
  to: Type.String(),
  at: instant,
  cause,
  configVersion: orNull(versionName),
  superseded,
});

/** A health score, or its end. */
export const scoreOrEnd = {
  overall: orNull(points, "Null if no component is known any more, so that the score ended."),
  band: orNull(Type.String()),
};

export const scoreChange = named("HealthScoreChange", {
  ...healthScore.properties,
  ...scoreOrEnd,
  at: instant,
  cause,
  configVersion: orNull(versionName),
  superseded,
});

/** The timeline at an instant. A replay stores no emissions, so they have no ids. */
const timelineAt = listOf(
  named("ReplayedEmission", "An emission that a replay under a version results in.", emissionMembers),
  {
    omitted: countOf("Number of earlier emissions that are left out."),
    configVersion: orNull(versionName),
    ...travelAnswer,
  },
);

const noCursor = (cursor: string) =>
  invalidField(
    "cursor",
    cursor,
    "The timeline at an instant has no pages.",
    "Use an earlier `at` to see earlier emissions.",
  );

/** A flag that reverses the order of a list. */
const reverse = Type.Optional(Type.Literal("true"));

const release = { schema: emptyObject, bytesMax: KIB };

/** Release customers that were set aside. */
export const releaseRoutes = [
  adminRoute("release_customers", "POST /projects/:project/customers/:customerId/release", {
    operationId: "releaseCustomer",
    summary: "Release one customer that was set aside, so that it is evaluated again",
    body: release,
    answers: { 200: released },
  }),
  adminRoute("release_customers", "POST /projects/:project/customers/release", {
    summary: "Release all customers that were set aside, so that they are evaluated again",
    body: release,
    answers: { 200: released },
    passes: ({ at }) => [at, null],
  }),
];

/** The JSON text of an object, unchanged, so that long numbers keep all their digits. Throws VALIDATION_ERROR. */
function traitsFilter(text: string | undefined): string | undefined {
  if (text === undefined || isObject(jsonOf(text))) return text;
  throw invalidField(
    "traits",
    text,
    "`traits` is not a JSON object.",
    'Write for example {"plan": "pro"}, URL-encoded.',
  );
}

/** Customers, their state and their history. */
export const customerRoutes = [
  adminRoute("search_customers", "GET /projects/:project/customers", {
    operationId: "listCustomers",
    summary: "List customers, filtered and sorted",
    query: exact({
      ...listQuery.properties,
      lifecycle: nameFilter,
      segment: nameFilter,
      health: nameFilter,
      signal: nameFilter,
      search: nameFilter,
      traits: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 4096,
          description:
            'Traits and their values: `{"plan": "pro"}`. A value matches a list that contains it; a number or truth value also matches a text that spells it. `{"mrr": {"atLeast": 1000, "atMost": 5000}}` compares numbers, and texts such as dates.',
        }),
      ),
      inactive: nameFilter,
      setAside: Type.Optional(Type.Literal("true")),
      sort: Type.Optional(
        Type.Enum(["customerId", "lastEvent", "health"], {
          description: "In ascending order. Defaults to lastEvent with `inactive`, otherwise to customerId.",
        }),
      ),
      reverse,
    }),
    answers: { 200: listOf(listedCustomer) },
    passes: ({ at, query }) => {
      const { traits, inactive, setAside, sort, reverse } = query;
      const inactiveSeconds = inactive === undefined ? undefined : secondsOf(inactive, "inactive");
      return [at, query, traitsFilter(traits), inactiveSeconds, setAside && true, sort, reverse === "true", query];
    },
  }),
  adminRoute("get_customer", "GET /projects/:project/customers/:customerId", {
    summary: "Get the state of one customer, now or at an instant",
    query: exact({ ...environmentQuery.properties, ...travelQuery }),
    refusals: travelRefusals,
    answers: { 200: customerState },
    scarce: isTravel,
    answer: (request) =>
      isTravel(request.query)
        ? travel(request, "state")
        : request.call("get_customer", request.at, request.params["customerId"]!),
  }),
  adminRoute("list_emissions", "GET /projects/:project/customers/:customerId/timeline", {
    operationId: "customerTimeline",
    summary: "List the emissions about one customer, oldest first unless reversed",
    query: exact({ ...listQuery.properties, reverse, ...travelQuery }),
    refusals: travelRefusals,
    answers: { 200: Type.Union([listOf(emission), timelineAt]) },
    scarce: isTravel,
    // The timeline at an instant may be incomplete, which only the JSON shows (`omitted`).
    isTable: (query) => !query.has("at") && !query.has("version"),
    answer: (request) => {
      const { at, params, query } = request;
      const reverse = query.reverse === "true";
      if (!isTravel(query)) return request.call("list_emissions", at, params["customerId"]!, reverse, query);
      if (query.cursor !== undefined) throw noCursor(query.cursor);
      return travel(request, "timeline", { limit: query.limit, reverse });
    },
  }),
  adminRoute("list_transitions", "GET /projects/:project/customers/:customerId/transitions", {
    summary: "List the lifecycle transitions of one customer, the last written first",
    query: recordQuery,
    answers: { 200: listOf(transition) },
    passes: ({ at, params, query }) => [at, params["customerId"]!, query.superseded === "true", query],
  }),
  adminRoute("list_health_scores", "GET /projects/:project/customers/:customerId/health-scores", {
    summary: "List the changes of one customer's health score, the last written first",
    query: recordQuery,
    answers: { 200: listOf(scoreChange) },
    passes: ({ at, params, query }) => [at, params["customerId"]!, query.superseded === "true", query],
  }),
  adminRoute("customer_backlog", "GET /projects/:project/customers/:customerId/backlog", {
    summary: "Count the operations of one customer that wait for evaluation",
    answers: { 200: backlog },
  }),
];

export const dueCustomer = named("DueCustomer", "A customer that changes next by time alone.", {
  customerId,
  lifecycle,
  nextDueAt: Type.String({
    ...instant,
    description:
      "When its next timer can fire: when it is due, or when the present wait of timers for late events ends at the latest, if that is later.",
  }),
  isHeld: Type.Boolean({
    description: "Whether the timer waits for late events; it fires as soon as no more arrive, before `nextDueAt`.",
  }),
});

/** Customers by their next timer. */
export const dueRoutes = [
  adminRoute("list_due_customers", "GET /projects/:project/due-customers", {
    summary: "List customers whose state changes by time alone, the earliest first",
    query: listQuery,
    answers: { 200: listOf(dueCustomer) },
  }),
];

const seconds = Type.Number({ minimum: 0 });
export const runNumber = Type.Integer({ minimum: 1, description: "Counts from 1 for each customer and journey." });

const steps = Type.Array(
  named("JourneyStepTiming", {
    stepId: Type.String(),
    completedAt: orNull(instant),
    triggeredBy: orNull(Type.String(), "The id of the event that completed it; `identify` or `timer` if no event did."),
    secondsFromStart: orNull(seconds),
    secondsFromPrevious: orNull(seconds, "Since the previously completed step, or the start."),
  }),
);

const earlierRun = named("JourneyRun", {
  run: runNumber,
  status: runStatus,
  currentStep: Type.String(),
  ...runSpan,
  stepsData,
  steps,
});

export const journeyDetail = named("Journey", {
  customerId: Type.String(),
  journeyId: Type.String(),
  status: Type.Enum(["not_started", "active", "complete", "expired"]),
  currentStep: orNull(Type.String(), "The first step that is not completed; the last step if the run is complete."),
  currentStepSince: orNull(instant, "When the run reached that step; null unless it is active."),
  secondsOnCurrentStep: orNull(seconds),
  run: orNull(runNumber),
  startedAt: orNull(instant),
  completedAt: orNull(instant),
  expiredAt: orNull(instant),
  stepsData,
  steps,
  earlierRuns: Type.Array(earlierRun, { description: "The newest first, at most 100." }),
});

/** A customer's progress in one journey. */
export const journeyRoutes = [
  adminRoute("get_journey", "GET /projects/:project/customers/:customerId/journeys/:journeyId", {
    summary: "Get a customer's progress in one journey, with the durations of its steps",
    answers: { 200: journeyDetail },
  }),
];

const counts = (description: string) => mapOf(count, description);

export const statistics = named("SegmentStatistics", "Statistics of all members; on the first page only.", {
  lifecycle: counts("Members by lifecycle state."),
  health: exact({
    scored: countOf("Members with a health score."),
    average: orNull(Type.Number({ minimum: 0, maximum: 100 })),
    bands: counts("Members by health band."),
  }),
  lastEvent: exact({ within1d: count, within7d: count, within30d: count, older: count, never: count }),
  enteredWithin7d: count,
});

export const segmentMember = named("SegmentMember", { customerId: Type.String(), enteredAt: instant });

export const segmentMembers = listOf(segmentMember, {
  segment: Type.String(),
  members: countOf("Number of present members."),
  definition: Type.Optional(
    orNull(
      jsonObject("As in the snapshot of the active version; a segment without `when` is filled by rules."),
      "On the first page only; null if the active version does not define the segment.",
    ),
  ),
  statistics: Type.Optional(statistics),
});

export const pastMembers = listOf(segmentMember, {
  recomputedAt: orNull(
    instant,
    "When the last recompute of all customers ended, or now while one is under way, if that is after `at`; otherwise null. A recompute keeps " +
      "only the last membership of a segment, so the list then has only customers whose record of it begins at or before `at`.",
  ),
});

/** A segment and its members. */
export const segmentRoutes = [
  adminRoute("get_segment", "GET /projects/:project/segments/:segment", {
    summary: "Get a segment and a page of its members",
    query: listQuery,
    answers: { 200: segmentMembers },
  }),
  adminRoute("list_members_at", "GET /projects/:project/segments/:segment/members", {
    summary: "List the members of a segment at an instant, by the present records",
    query: exact({ ...listQuery.properties, ...pastQuery }),
    answers: { 200: pastMembers },
    // Reads the memberships of all customers, for each page.
    scan: true,
    passes: ({ at, params, query }) => [at, params["segment"]!, requestedInstant(query.at), query],
  }),
];
