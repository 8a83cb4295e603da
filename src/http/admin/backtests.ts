import Type, { type Static } from "typebox";
import { EVERY_DEFAULT, QuestionProblem, readQuestion } from "../../backtest/question.js";
import type { BacktestQuestion } from "../../backtest/samples.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { ApiError, invalidField } from "../errors.js";
import { listQuery, MIB, shortListQuery } from "./parameters.js";
import { customerId } from "./customers.js";
import { jobLocation, progress, requestInfo, status } from "./recomputes.js";
import { adminRoute } from "./route.js";
import { count, countOf, environment, exact, instant, listOf, mapOf, named, orNull, versionName } from "./schemas.js";
import { hash, newBacktest, storable } from "./submitted-snapshot.js";

const share = (description: string) => orNull(Type.Number({ minimum: 0, maximum: 1 }), description);
const perWeek = Type.Number({ minimum: 0, description: "Number per week among all customers of the backtest." });

const estimate = exact(
  { value: Type.Number(), low: orNull(Type.Number()), high: orNull(Type.Number()) },
  { description: "A value with the bounds of its 95 % interval, which are null if there is too little data." },
);
const maybeEstimate = (description: string) => orNull(estimate, description);

const flagReport = named(
  "FlagReport",
  "How well a flag, such as a state or segment that a customer is in, predicts the outcome.",
  {
    id: Type.String(),
    flagged: countOf("Samples with the flag."),
    customers: countOf("Customers of these samples."),
    caught: countOf(
      "Customers with the outcome who were flagged in a sample before it; compare with customers.withOutcome.",
    ),
    precision: maybeEstimate("The share of flagged samples with the outcome; null if none was flagged."),
    recall: share("The share of samples with the outcome that were flagged; null without outcomes."),
    lift: orNull(Type.Number(), "Precision divided by the base rate; null without precision or without outcomes."),
    medianLeadDays: orNull(
      Type.Number(),
      "Median time in days from a flagged sample to its outcome, to a precision of about a thousandth of `within`; null if there is none.",
    ),
    falseAlarmsPerWeek: Type.Number({
      minimum: 0,
      description:
        "How often per week, among all customers, the flag was raised but the outcome did not follow in time.",
    }),
  },
);

const flags = (description: string) => Type.Array(flagReport, { description });

const healthReport = named("HealthReport", "How well the health score predicts the outcome.", {
  samples: countOf("Samples that have a score."),
  direction: Type.Enum(["lower", "higher"], {
    description: "Whether samples with the outcome mostly have lower or higher scores.",
  }),
  auc: maybeEstimate(
    "The probability that a sample with the outcome has a lower (or higher) score than one without; equal scores count half. Null without samples of both kinds.",
  ),
  calibration: Type.Array(exact({ from: Type.Number(), to: Type.Number(), samples: count, rate: estimate }), {
    description: "Groups of samples by score, the lowest first, with about a tenth of the samples each.",
  }),
  thresholds: Type.Array(
    exact({
      score: Type.Number(),
      flagged: Type.Number({ description: "The share of samples that is flagged." }),
      precision: share("Null if none is flagged."),
      recall: share("Null without outcomes."),
      falseAlarmsPerWeek: perWeek,
    }),
    { description: "The results of flagging the samples on one side of a score." },
  ),
  components: Type.Array(
    exact({
      id: Type.String(),
      weight: Type.Number(),
      alone: maybeEstimate("AUC of the component's score alone."),
      without: maybeEstimate("AUC of the health score without the component."),
      gain: maybeEstimate("AUC of the whole health score minus `without`."),
    }),
  ),
});

const backtestReport = named("BacktestReport", "The results of a backtest.", {
  outcome: Type.String({ examples: ["state:churned"] }),
  within: Type.String({ examples: ["60d"] }),
  every: Type.String({ examples: ["7d"] }),
  from: instant,
  to: instant,
  end: instant,
  instants: exact({ used: count, empty: countOf("Instants at which no customer was known yet."), censored: count }),
  customers: exact({ looked: countOf("Customers with a used sample."), withOutcome: count }),
  samples: exact({ used: count, withOutcome: count, alreadyThere: count, censored: count }),
  baseRate: maybeEstimate("The share of used samples with the outcome; null without samples."),
  models: Type.Array(
    exact({
      name: Type.String({ description: "The version, or `local`.", examples: ["v3"] }),
      states: flags("By lifecycle state."),
      bands: flags("By band of the health score."),
      segments: flags("By segment."),
      signals: flags("By signal."),
      health: orNull(healthReport, "Null without a health score."),
    }),
    { description: "The judged model, then the one that it is compared with, if any." },
  ),
  difference: maybeEstimate("AUC of the judged model's score minus that of the other model. Null unless both exist."),
  notes: Type.Array(Type.String(), { description: "Notes that a reader must know to interpret the figures." }),
});

export const backtest = named("Backtest", {
  id: Type.String({ pattern: "^bkt_[0-9a-f]+$", examples: ["bkt_5f0c2a9e7b1d4c3a5f0c"] }),
  status,
  environment,
  outcome: Type.String({
    examples: ["state:churned"],
    description: "`state:`, `event:` or `segment:`, followed by its id.",
  }),
  within: Type.String({ examples: ["60d"], description: "How long after an instant an outcome counts." }),
  every: Type.String({ examples: ["7d"], description: "The interval between instants." }),
  from: instant,
  to: instant,
  end: Type.String({ ...instant, description: "The end of the known history: the time of the last event." }),
  customers: orNull(
    Type.Integer({ minimum: 1 }),
    "The approximate number of customers in the sample; null for all. At most about 100,000 are used in any case.",
  ),
  traits: Type.Enum(["then", "now"], {
    description: "`then`: traits apply from their acceptance on. `now`: the present traits apply from the beginning.",
  }),
  model: exact({ configVersion: orNull(versionName, "Null for a snapshot that is not deployed."), hash }),
  against: orNull(versionName, "The version that the model is compared with."),
  ...progress,
  report: orNull(backtestReport, "Null until the backtest is completed."),
  ...requestInfo,
});

const said = exact({
  state: orNull(Type.String()),
  segments: Type.Array(Type.String()),
  signals: Type.Array(Type.String()),
  health: orNull(exact({ overall: Type.Number(), band: Type.String(), components: mapOf(Type.Number()) })),
});

const customerSamples = named("CustomerSamples", "A backtest's samples of one customer.", {
  customerId,
  said: Type.Array(
    Type.Array(
      Type.Array(Type.Union([count, said]), {
        minItems: 2,
        maxItems: 2,
        description:
          "The index of an instant, from 0, and what the model says about the customer from that instant on.",
      }),
    ),
    { description: "For each model: what it says about the customer, as entries that each apply until the next one." },
  ),
  outcomes: Type.Array(Type.Number(), {
    description: "The first outcomes after the instants, without duplicates, in ms since the epoch.",
  }),
});

/** Backtests, which measure what models would have predicted. They change nothing. */
export const backtestRoutes = [
  adminRoute("create_backtest", "POST /projects/:project/backtests", {
    summary: "Queue a backtest, which compares what a model said about customers in the past with what happened later",
    body: { schema: newBacktest, bytesMax: 8 * MIB, submission: "backtest" },
    answers: { 202: backtest },
    refusals: { 404: ["VERSION_NOT_FOUND"], 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ call, at, body, ctx }) => {
      const { outcome, within, every = EVERY_DEFAULT, traits = "then", version, against = null } = body;
      const isDeployed = !("snapshot" in body);
      if (!isDeployed && version !== undefined) {
        throw new ApiError(400, "VALIDATION_ERROR", {
          message: "`version` and `snapshot` exclude each other.",
          field: "version",
          fix: "Send one of them, or neither for the active version.",
        });
      }
      const sent = isDeployed ? null : await storable("create_backtest", { call, at }, body.snapshot);
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
      ctx.set("Location", jobLocation(at, "backtests", document));
      return document;
    },
  }),
  adminRoute("list_backtests", "GET /projects/:project/backtests", {
    summary: "List the backtests of an environment, the newest first",
    query: shortListQuery,
    answers: { 200: listOf(backtest) },
  }),
  adminRoute("get_backtest", "GET /projects/:project/backtests/:backtest", {
    summary: "Get a backtest, with its progress, and its report once it is completed",
    answers: { 200: backtest },
  }),
  adminRoute("list_backtest_samples", "GET /projects/:project/backtests/:backtest/samples", {
    summary: "List a backtest's samples of each customer, by customer id",
    query: listQuery,
    answers: { 200: listOf(customerSamples) },
  }),
];

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** Throws VALIDATION_ERROR for an invalid question. */
function questionOf(body: Static<typeof newBacktest>, end: number, snapshot: Snapshot): BacktestQuestion {
  try {
    return readQuestion(body, end, snapshot);
  } catch (error) {
    if (!(error instanceof QuestionProblem)) throw error;
    throw invalidField(error.path, body[error.path], error.message, error.fix);
  }
}
