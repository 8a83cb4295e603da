import Type, { type Static } from "typebox";
import { EVERY_DEFAULT, QuestionProblem, readQuestion } from "../../backtest/question.js";
import type { BacktestQuestion } from "../../backtest/samples.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { ApiError, invalidField } from "../errors.js";
import { listQuery, MIB, shortListQuery } from "./parameters.js";
import { customerId } from "./customers.js";
import { placeOfJob, progress, requested, status } from "./recomputes.js";
import { adminRoute } from "./route.js";
import { count, countOf, environment, exact, instant, listOf, mapOf, named, orNull, versionName } from "./schemas.js";
import { hash, newBacktest, storable } from "./submitted-snapshot.js";

const share = (description: string) => orNull(Type.Number({ minimum: 0, maximum: 1 }), description);
const perWeek = Type.Number({ minimum: 0, description: "In a week, of all customers that are looked at." });

const estimate = exact(
  { value: Type.Number(), low: orNull(Type.Number()), high: orNull(Type.Number()) },
  { description: "With the bounds of its 95 % interval; null where there is too little to tell." },
);
const maybeEstimate = (description: string) => orNull(estimate, description);

const flagReport = named(
  "FlagReport",
  "How well something that is either said of a customer or not foresees the outcome.",
  {
    id: Type.String(),
    flagged: countOf("Samples of which it was said."),
    customers: countOf("Of how many customers these are."),
    caught: countOf("Customers with the outcome who were flagged in a sample before it, of all customers.withOutcome."),
    precision: maybeEstimate("Of those flagged, the share with the outcome; null where none was flagged."),
    recall: share("Of those with the outcome, the share that was flagged; null where there was no outcome."),
    lift: orNull(Type.Number(), "Precision beside the base rate; null where there is no precision, or no outcome."),
    medianLeadDays: orNull(
      Type.Number(),
      "From a flagged sample to its outcome, half took no longer; null where there is none.",
    ),
    falseAlarmsPerWeek: Type.Number({
      minimum: 0,
      description: "How often it began to be said without that the outcome came in time, in a week, of all customers.",
    }),
  },
);

const flags = (description: string) => Type.Array(flagReport, { description });

const healthReport = named("HealthReport", "What the health score is worth.", {
  samples: countOf("Samples that have a score."),
  direction: Type.Enum(["lower", "higher"], { description: "The scores that those with the outcome mostly have." }),
  auc: maybeEstimate(
    "How often, of a sample with the outcome and one without, the first has the lower (or higher) score; equal ones count half. Null without one of either.",
  ),
  calibration: Type.Array(exact({ from: Type.Number(), to: Type.Number(), samples: count, rate: estimate }), {
    description: "Samples by their score, the lowest first: about a tenth of them each.",
  }),
  thresholds: Type.Array(
    exact({
      score: Type.Number(),
      flagged: Type.Number({ description: "The share of samples that is flagged." }),
      precision: share("Null where none is flagged."),
      recall: share("Null where there was no outcome."),
      falseAlarmsPerWeek: perWeek,
    }),
    { description: "What comes of flagging the samples on one side of a score." },
  ),
  components: Type.Array(
    exact({
      id: Type.String(),
      weight: Type.Number(),
      alone: maybeEstimate("AUC of its score alone."),
      without: maybeEstimate("AUC of the score without it."),
      gain: maybeEstimate("What the whole score's AUC has more than that."),
    }),
  ),
});

const backtestReport = named("BacktestReport", "What a backtest came to.", {
  outcome: Type.String({ examples: ["state:churned"] }),
  within: Type.String({ examples: ["60d"] }),
  every: Type.String({ examples: ["7d"] }),
  from: instant,
  to: instant,
  end: instant,
  instants: exact({ used: count, empty: countOf("At which nobody was known yet."), censored: count }),
  customers: exact({ looked: countOf("Customers with a used sample."), withOutcome: count }),
  samples: exact({ used: count, withOutcome: count, alreadyThere: count, censored: count }),
  baseRate: maybeEstimate("The share of used samples with the outcome; null without samples."),
  models: Type.Array(
    exact({
      name: Type.String({ description: "Of the version, or local.", examples: ["v3"] }),
      states: flags("By lifecycle state."),
      bands: flags("By band of the health score."),
      segments: flags("By segment."),
      signals: flags("By signal."),
      health: orNull(healthReport, "Null without a health score."),
    }),
    { description: "The judged model, and the one beside it." },
  ),
  difference: maybeEstimate("AUC of the judged model's score less that of the other. Null where there are not both."),
  notes: Type.Array(Type.String(), { description: "What a reader has to know before believing the figures." }),
});

export const backtest = named("Backtest", {
  id: Type.String({ pattern: "^bkt_[0-9a-f]+$", examples: ["bkt_5f0c2a9e7b1d4c3a5f0c"] }),
  status,
  environment,
  outcome: Type.String({ examples: ["state:churned"], description: "state:, event: or segment: and its id." }),
  within: Type.String({ examples: ["60d"], description: "An outcome counts so long after an instant." }),
  every: Type.String({ examples: ["7d"], description: "From one instant to the next." }),
  from: instant,
  to: instant,
  end: Type.String({ ...instant, description: "Up to when it is known what happened: the last event that came." }),
  customers: orNull(
    Type.Integer({ minimum: 1 }),
    "About how many customers it looks at; null for all. No more than about 100,000 are looked at in any case.",
  ),
  traits: Type.Enum(["then", "now"], {
    description: "Whether traits hold from their acceptance on, or the present ones from the beginning.",
  }),
  model: exact({ configVersion: orNull(versionName, "Null of a snapshot that is not deployed."), hash }),
  against: orNull(versionName, "The version that is looked at beside it."),
  ...progress,
  report: orNull(backtestReport, "Null until it is completed."),
  ...requested,
});

const said = exact({
  state: orNull(Type.String()),
  segments: Type.Array(Type.String()),
  signals: Type.Array(Type.String()),
  health: orNull(exact({ overall: Type.Number(), band: Type.String(), components: mapOf(Type.Number()) })),
});

const customerSamples = named("CustomerSamples", "What a backtest noted of a customer.", {
  customerId,
  said: Type.Array(
    Type.Array(
      Type.Array(Type.Union([count, said]), {
        minItems: 2,
        maxItems: 2,
        description: "The number of an instant, counted from 0, and what is said from it on.",
      }),
    ),
    { description: "By model: what it says from an instant on, until the next of the list." },
  ),
  outcomes: Type.Array(Type.Number(), {
    description: "The first outcome after each instant, each once, in milliseconds since 1970.",
  }),
});

/** What models foresaw. A backtest changes nothing. */
export const backtestRoutes = [
  adminRoute("create_backtest", "POST /projects/:project/backtests", {
    summary: "Queue a backtest: what a model said of customers in the past, and what came after",
    body: { schema: newBacktest, bytesMax: 8 * MIB, submission: "backtest" },
    answers: { 202: backtest },
    refusals: { 404: ["VERSION_NOT_FOUND"], 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ deps, credentials, call, at, body, ctx }) => {
      const { outcome, within, every = EVERY_DEFAULT, traits = "then", version, against = null } = body;
      const isDeployed = !("snapshot" in body);
      if (!isDeployed && version !== undefined) {
        throw new ApiError(400, "VALIDATION_ERROR", {
          message: "`version` and `snapshot` exclude each other.",
          field: "version",
          fix: "Send one of them, or neither for the active version.",
        });
      }
      const operation = { operation: "create_backtest", environment: at.environment };
      const sent = isDeployed ? null : await storable(deps.sql, credentials, operation, body.snapshot);
      const { at: pinnedAt, end, configVersion, snapshot } = await call("begin_backtest", at, isDeployed, version);
      const judged = (sent === null ? snapshot : JSON.parse(sent.snapshot)) as Snapshot;
      const { from, to } = questionOf(body, end, judged);
      const document = await call("create_backtest", at, {
        versionName: configVersion,
        snapshot: sent?.snapshot ?? null,
        hash: sent?.hash ?? null,
        question: { outcome, within, every, from: isoOf(from), to: isoOf(to), end: isoOf(end), traits, against },
        sample: body.customers,
        pinnedAt: new Date(pinnedAt),
      });
      ctx.set("Location", placeOfJob(at, "backtests", document));
      return document;
    },
  }),
  adminRoute("list_backtests", "GET /projects/:project/backtests", {
    summary: "The backtests of an environment, the newest first",
    query: shortListQuery,
    answers: { 200: listOf(backtest) },
  }),
  adminRoute("get_backtest", "GET /projects/:project/backtests/:backtest", {
    summary: "A backtest, with its progress, and its report once it is completed",
    answers: { 200: backtest },
  }),
  adminRoute("list_backtest_samples", "GET /projects/:project/backtests/:backtest/samples", {
    summary: "What a backtest noted of each customer, in order of their ids",
    query: listQuery,
    answers: { 200: listOf(customerSamples) },
  }),
];

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** Throws VALIDATION_ERROR for what is no question. */
function questionOf(body: Static<typeof newBacktest>, end: number, snapshot: Snapshot): BacktestQuestion {
  try {
    return readQuestion(body, end, snapshot);
  } catch (error) {
    if (!(error instanceof QuestionProblem)) throw error;
    throw invalidField(error.path, body[error.path], error.message, error.fix);
  }
}
