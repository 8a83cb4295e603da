import { setTimeout } from "node:timers/promises";
import Type from "typebox";

import { stateBudget } from "../../../../engine/index.js";
import { summary } from "../../../../words/text.js";
import type {
  ConfigCheck,
  DeployedVersion,
  JobDifference,
  RecomputeOrPreview,
} from "../../../../http/admin/answers.js";
import { asWarnings } from "../../../client/failures.js";
import { pauseAfter, readAll } from "../../../client/pages.js";
import { compile, warningsFailure } from "../../../core/compile.js";
import { failure, UserError } from "../../../core/errors.js";
import { sendUninterrupted } from "../../../output/change.js";
import type { AnyDiagnostic } from "../../../output/diagnostics.js";
import type { Sanitizer } from "../../ai/sanitizer.js";
import { Impact, type ImpactDocument, type ImpactGroup } from "../../deploy/impact.js";
import { JOB_MEMBERS } from "../../recompute/jobs.js";
import { problemOf } from "../answer.js";
import type { Call } from "../session.js";
import { defineTool, document, optionalText, nullable } from "../tool.js";

/** Part of the description of each tool that runs the model. */
const RUNS = "It runs the TypeScript of the model on this machine, as svc validate does.";

const validateModel = defineTool({
  name: "validate_model",
  title: "Validate the local model",
  description: `Check the model in the project's folder: its types, and svc's errors and warnings, with file and line. Nothing is deployed. ${RUNS}`,
  effect: "runs",
  input: {},
  less: "run svc validate instead, which shows everything",
  output: {
    valid: Type.Boolean(),
    summary: nullable(Type.String(), "The model's contents; null if it is not valid."),
    stateBytes: nullable(Type.Number(), "The size that a customer's state can reach, in bytes."),
    problems: Type.Array(document("What is wrong, where, and what to do; includes warnings.")),
  },
  async run({ context, signal }) {
    try {
      const { snapshot, warnings } = await compile(context, signal);
      const { bytes } = stateBudget(snapshot);
      return { valid: true, summary: summary(snapshot), stateBytes: bytes, problems: warnings.map(problemOf) };
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== "CONFIG_INVALID") throw error;
      const problems = (error.details.problems ?? []) as readonly AnyDiagnostic[];
      return { valid: false, summary: null, stateBytes: null, problems: problems.map(problemOf) };
    }
  },
});

/** Clients wait for about a minute. */
const WAIT_MS = 40_000;

const previewModel = defineTool({
  name: "preview_model",
  title: "Preview the local model",
  description: `What the model in the project's folder would change among customers if it were deployed: who would enter or leave segments, move in the lifecycle, change health. It looks at a sample of customers; nothing is deployed or changed. If it takes long, the answer has no impact yet: call again with its previewId. ${RUNS}`,
  effect: "runs",
  input: {
    previewId: optionalText("From an earlier answer, to get its result; otherwise a new preview begins."),
    sample: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: "About how many customers to look at; 1000 unless given.",
      }),
    ),
  },
  less: "give a smaller sample",
  output: {
    previewId: Type.String(),
    status: Type.String({ description: "completed, or the present status." }),
    comparedWith: nullable(Type.String(), "The active version; null if there is none."),
    evaluatedAt: Type.String(),
    progress: document("How many customers were looked at, of how many."),
    totals: document("How much changes."),
    refusedFor: nullable(
      Type.Array(document("What a deploy would lose; it is refused for that unless a person forces it.")),
      "Null for an earlier preview.",
    ),
    impact: nullable(document("What changes, with some of the customers; null until the preview is completed.")),
  },
  async run(call, { previewId, sample = 1000 }) {
    const { context } = call;
    const sanitizer = await call.sanitizer();
    const begun = previewId === undefined ? await begin(call, sample) : { id: previewId, refusedFor: null };
    const job = await awaitPreview(call, begun.id);
    if (job.status === "dead_letter") {
      throw failure(
        "DEAD_LETTER",
        `the preview ${job.id} was given up`,
        "fix the cause (see diagnose), then preview again",
      );
    }
    const impact = new Impact();
    if (job.status === "completed") {
      for await (const { data } of readAll<JobDifference>(context.api, ["previews", job.id, "customers"])) {
        for (const difference of data.data) impact.add(difference);
      }
    }
    return {
      previewId: job.id,
      status: job.status,
      comparedWith: job.pins.configVersion,
      evaluatedAt: job.pins.evaluatedAt,
      progress: job.progress,
      totals: job.result,
      refusedFor: begun.refusedFor,
      impact: job.status === "completed" ? sentImpact(sanitizer, impact.document) : null,
    };
  },
});

/** Begins a preview of the local model, and asks for the warnings that would block its deploy. */
async function begin({ context, signal }: Call, sample: number) {
  const { snapshot } = await compile(context, signal);
  const { warnings } = (await context.api.post<ConfigCheck>(["config-checks"], { snapshot }, ["warnings"])).data;
  const { id } = (await context.api.post<RecomputeOrPreview>(["previews"], { snapshot, sample }, JOB_MEMBERS)).data;
  return { id, refusedFor: asWarnings(warnings).map(problemOf) };
}

/** A preview once it has ended, or its progress after WAIT_MS. */
async function awaitPreview({ context: { api }, signal }: Call, id: string): Promise<RecomputeOrPreview> {
  const until = Date.now() + WAIT_MS;
  for (let polls = 0; ; polls++) {
    const { data } = await api.get<RecomputeOrPreview>(["previews", id], JOB_MEMBERS);
    if (["completed", "dead_letter"].includes(data.status) || Date.now() > until) return data;
    await setTimeout(pauseAfter(polls), undefined, { signal });
  }
}

/** A model's impact as it may be sent: example customers are named by pseudonyms, as everywhere, unless ids are allowed. */
function sentImpact(sanitizer: Sanitizer, { segments, health, emissions, ...impact }: ImpactDocument) {
  const customer = (id: string) => sanitizer.id("customer", id);
  const group = <G extends ImpactGroup>(one: G): G => ({ ...one, examples: one.examples.map(customer) });
  return {
    ...impact,
    segments: segments.map(({ segmentId, entered, exited }) => ({
      segmentId,
      entered: group(entered),
      exited: group(exited),
    })),
    lifecycle: impact.lifecycle.map(group),
    journeys: impact.journeys.map(group),
    rules: impact.rules.map(group),
    emissions: emissions.map((one) => ({
      ...group(one),
      eventType: sanitizer.name(one.eventType),
      ...(one.signal === undefined ? {} : { signal: sanitizer.name(one.signal) }),
    })),
    health: {
      ...health,
      examples: health.examples.map((one) => ({ ...one, customerId: customer(one.customerId) })),
    },
  };
}

export const modelTools = [validateModel, previewModel];

/** A change, only offered for test: deploys the local model. */
export const deployModel = defineTool({
  name: "deploy_model",
  title: "Deploy the local model to test",
  description: `Deploy the model in the project's folder as a new version of the environment test. Preview it first. A model with warnings is refused. Customers keep their state until something happens to them. ${RUNS}`,
  effect: "changes",
  input: {},
  output: {
    version: Type.String(),
    created: Type.Boolean({ description: "False if this model is already active." }),
    hasCustomers: Type.Boolean(),
  },
  async run({ context, signal }) {
    const { snapshot, warnings } = await compile(context, signal);
    if (warnings.length > 0)
      throw warningsFailure(warnings, "correct them, or have a person deploy despite them: `svc deploy --force`");
    const { data } = await sendUninterrupted("list_versions", () =>
      context.api.post<DeployedVersion>(["config-versions"], { snapshot }, ["version", "created", "hasCustomers"]),
    );
    return { version: data.version, created: data.created, hasCustomers: data.hasCustomers };
  },
});
