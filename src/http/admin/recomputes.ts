import Type, { type Static, type TSchema } from "typebox";
import type { EnvironmentRef } from "../../db/api/access.js";
import { ApiError } from "../errors.js";
import { adminRoute } from "./route.js";
import {
  count,
  countOf,
  environment,
  exact,
  instant,
  jsonObject,
  listOf,
  mapOf,
  named,
  orNull,
  versionName,
} from "./schemas.js";
import { emptyObject, KIB, listQuery, MIB, nameText, shortListQuery } from "./parameters.js";
import { customerId, journeyRun } from "./customers.js";
import { hash, newPreview, storable } from "./submitted-snapshot.js";

const RECOMPUTE_STATUSES = ["queued", "running", "retrying", "completed", "dead_letter"] as const;

export const status = Type.Enum([...RECOMPUTE_STATUSES], {
  description: "`dead_letter`: given up after too many failures without progress, or cancelled.",
});

const result = named("RecomputeResult", "The result so far; the counts grow while it runs.", {
  lifecycleChanged: countOf("Customers whose final lifecycle state changes."),
  healthChanged: countOf("Customers whose final health changes."),
  segmentsEntered: countOf("Memberships that begin."),
  segmentsExited: countOf("Memberships that end."),
  signalsRaised: countOf("Signals that are raised."),
  signalsCleared: countOf("Signals that are cleared."),
  customersChanged: countOf("Customers with a difference, a new rule execution or an emission."),
  rules: countOf("Rule executions that are added to the log."),
  rulesRemoved: countOf(
    "Rule executions that are removed from the log. One that only moves in time counts as removed and added.",
  ),
  emissions: countOf("Emitted corrections and expirations."),
});

/** The progress of a job. */
export const progress = {
  attempt: countOf("Number of attempts so far."),
  nextAttemptAt: orNull(instant, "While retrying: when the next attempt begins."),
  error: orNull(Type.String(), "Why the last attempt failed, and what to do."),
  progress: exact({
    customersTotal: orNull(
      count,
      "Number of customers when it started, or of processed customers once it is completed; null before it starts.",
    ),
    customersDone: count,
  }),
};

/** Who requested a job, and when it was requested and run. */
export const requestInfo = {
  requestedBy: Type.String({ description: "E-mail address of the user who requested it." }),
  requestedAt: instant,
  startedAt: orNull(instant),
  finishedAt: orNull(instant, "When it was completed, given up or cancelled."),
};

const job = {
  pins: exact({
    configVersion: orNull(
      versionName,
      "The version that is replayed; for a preview, the version that it is compared with. Null before the first deploy.",
    ),
    evaluatedAt: instant,
    customersCreatedThrough: instant,
  }),
  exactFrom: orNull(
    instant,
    "Since when all events were stored when it started, if retention had removed earlier ones of its customers: their effects are missing. Otherwise null.",
  ),
  ...progress,
  result,
  ...requestInfo,
};

export const recompute = named("Recompute", {
  id: Type.String({ pattern: "^rec_[0-9a-f]+$", examples: ["rec_5f0c2a9e7b1d4c3a5f0c"] }),
  status,
  dry_run: Type.Boolean({ description: "Whether it only reports what it would change." }),
  environment,
  customerId: orNull(Type.String(), "The customer that is recomputed; null for all."),
  ...job,
});

export const preview = named("Preview", {
  id: Type.String({ pattern: "^prv_[0-9a-f]+$", examples: ["prv_5f0c2a9e7b1d4c3a5f0c"] }),
  status,
  dry_run: Type.Literal(true),
  environment,
  sample: orNull(Type.Integer({ minimum: 1 }), "The approximate number of customers in the sample; null for all."),
  hash,
  ...job,
});

const state = orNull(Type.String(), "Null if there is none.");
const score = orNull(
  exact({
    overall: Type.Number(),
    band: Type.Optional(Type.String({ description: "Absent in differences from releases that had no bands." })),
    components: mapOf(Type.Number()),
  }),
  "Null if there is none.",
);

/** A pair of the values before and after a change, or a change that would happen. */
const beforeAndAfter = <Schema extends TSchema>(schema: Schema) => exact({ before: schema, after: schema });

export const difference = named("CustomerDifference", "A customer before and after the replay.", {
  customerId,
  lifecycle: beforeAndAfter(state),
  health: beforeAndAfter(score),
  segments: beforeAndAfter(Type.Array(Type.String(), { description: "All segments that the customer is in." })),
  journeys: beforeAndAfter(Type.Array(journeyRun)),
  signals: Type.Optional(
    exact({
      before: Type.Array(Type.String(), {
        description: "All raised signals. Absent in differences from releases that had no signals.",
      }),
      after: Type.Array(Type.String(), { description: "All raised signals." }),
      changed: Type.Optional(
        Type.Array(Type.String(), {
          minItems: 1,
          description: "Those that stay raised, with another severity or message.",
        }),
      ),
    }),
  ),
  rules: Type.Array(
    exact({
      ruleId: Type.String(),
      result: Type.Enum(["pass", "fail", "skip", "error"]),
      triggeredBy: Type.String({ examples: ["event:login"] }),
      conditions: jsonObject("The result of the condition, part by part."),
      action: jsonObject("The action of the rule when it passes."),
      executedAt: instant,
    }),
    { maxItems: 1000, description: "Rule executions that are added to the log." },
  ),
  rulesOmitted: Type.Optional(Type.Integer({ minimum: 1, description: "Number of further ones." })),
  rulesRemoved: Type.Optional(
    Type.Integer({ minimum: 1, description: "Number of rule executions removed from the log." }),
  ),
  emissions: Type.Array(
    exact({
      eventType: Type.String({ examples: ["customer.activated"] }),
      source: Type.String({ examples: ["lifecycle"] }),
      metadata: jsonObject("Details, which depend on the type."),
      timestamp: instant,
    }),
    { maxItems: 1000, description: "Corrections and expirations." },
  ),
  emissionsOmitted: Type.Optional(Type.Integer({ minimum: 1, description: "Number of further ones." })),
});

const differenceList = listOf(difference);

const newRecompute = Type.Object(
  {
    customerId: Type.Optional(nameText),
    all: Type.Optional(Type.Literal(true)),
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: "^[^\\u0000]*$",
        description: "must be the id of a dry run",
        examples: ["rec_5f0c2a9e7b1d4c3a5f0c"],
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** `?env=&limit=&cursor=&order=`, for the customers of a recompute or a preview. */
const customersQuery = exact({
  ...listQuery.properties,
  order: Type.Enum(["weight", "customerId"], { default: "weight" }),
});

/** Recomputes, dry runs, and previews of snapshots that are not deployed. */
export const recomputeRoutes = [
  // It runs after those that were queued before it.
  adminRoute("create_recompute", "POST /projects/:project/recomputes", {
    summary: "Queue a recompute of one customer or of all, or a dry run of it",
    body: { schema: newRecompute, bytesMax: 16 * KIB },
    answers: { 202: recompute },
    refusals: { 404: ["RECOMPUTE_NOT_FOUND"], 409: ["RECOMPUTE_NOT_A_DRY_RUN"] },
    answer: async ({ call, at, body, ctx }) => {
      const { customerId, from } = scopeOf(body);
      const document = await call("create_recompute", at, customerId, body.dryRun ?? false, from);
      ctx.set("Location", jobLocation(at, "recomputes", document));
      return document;
    },
  }),
  // Without previews.
  adminRoute("list_recomputes", "GET /projects/:project/recomputes", {
    summary: "List the recomputes and dry runs of an environment, the newest first",
    query: exact({
      ...shortListQuery.properties,
      status: Type.Optional(Type.Enum([...RECOMPUTE_STATUSES])),
    }),
    answers: { 200: listOf(recompute) },
    passes: ({ at, query }) => [at, query.status, query],
  }),
  adminRoute("get_recompute", "GET /projects/:project/recomputes/:recompute", {
    summary: "Get a recompute, with its progress and its result so far",
    answers: { 200: recompute },
  }),
  adminRoute("list_recompute_customers", "GET /projects/:project/recomputes/:recompute/customers", {
    summary: "List the customers that a recompute changes, by default the largest changes first",
    query: customersQuery,
    answers: { 200: differenceList },
    passes: ({ at, params, query }) => [at, params["recompute"]!, query.order === "customerId", query],
  }),
  adminRoute("retry_recompute", "POST /projects/:project/recomputes/:recompute/retry", {
    summary: "Resume a recompute that was given up or cancelled",
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 202: recompute },
    refusals: { 409: ["RECOMPUTE_NOT_DEAD"] },
  }),
  adminRoute("cancel_recompute", "POST /projects/:project/recomputes/:recompute/cancel", {
    summary: "End a recompute before all of its customers are done; what is written stays, and a retry resumes it",
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 200: recompute },
    refusals: { 409: ["RECOMPUTE_FINISHED"] },
  }),
  adminRoute("create_preview", "POST /projects/:project/previews", {
    summary: "Queue a preview of what a snapshot would change, without deploying it",
    body: { schema: newPreview, bytesMax: 8 * MIB, submission: "preview" },
    answers: { 202: preview },
    refusals: { 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ call, at, body, ctx }) => {
      const { snapshot, hash } = await storable("create_preview", { call, at }, body.snapshot);
      const document = await call("create_preview", at, snapshot, hash, body.sample);
      ctx.set("Location", jobLocation(at, "previews", document));
      return document;
    },
  }),
  adminRoute("get_preview", "GET /projects/:project/previews/:preview", {
    summary: "Get a preview, with its progress and its result so far",
    answers: { 200: preview },
  }),
  adminRoute("list_preview_customers", "GET /projects/:project/previews/:preview/customers", {
    summary: "List the customers that the snapshot of a preview would change, by default the largest changes first",
    query: customersQuery,
    answers: { 200: differenceList },
    passes: ({ at, params, query }) => [at, params["preview"]!, query.order === "customerId", query],
  }),
];

/** The path of a queued job. @param document the job. */
export function jobLocation(
  { project, environment }: EnvironmentRef,
  list: "recomputes" | "previews" | "backtests",
  document: string,
): string {
  const { id } = JSON.parse(document) as { id: string };
  return `/projects/${encodeURIComponent(project)}/${list}/${id}?env=${environment}`;
}

/** The chosen scope. Throws VALIDATION_ERROR unless exactly one was chosen. */
function scopeOf({ customerId, all, from }: Static<typeof newRecompute>) {
  const [first, second] = Object.entries({ customerId, all, from }).flatMap(([name, value]) => (value ? name : []));
  if (first !== undefined && second === undefined) return { customerId, from };
  throw new ApiError(400, "VALIDATION_ERROR", {
    message:
      first === undefined
        ? "The body does not say what to recompute."
        : `\`${first}\` and \`${second}\` exclude each other.`,
    field: second,
    fix: "Send exactly one of `customerId`, `all` and `from`.",
  });
}
