import path from "node:path";

import { readAll } from "../../client/pages.js";
import { questionOfAnswer } from "../../../backtest/question.js";
import type { CustomerSamples } from "../../../backtest/samples.js";
import type { BacktestJob } from "../../../http/admin/answers.js";
import type { Context } from "../../core/command.js";
import { compileWithNotes } from "../../core/compile.js";
import { failure, UsageError, UserError } from "../../core/errors.js";
import { cancellable } from "../../output/interruption.js";
import { shellWord } from "../../../words/text.js";
import { activeVersion, VERSION_NAME } from "../config/stored-versions.js";
import { waitForJob } from "../recompute/result.js";
import { type BacktestOptions, type Forms, questionOf } from "./asked.js";
import { printBacktest } from "./report.js";

const MEMBERS = ["id", "status", "progress", "report", "model"] as const;

/** Has the service judge a model on its stored data, as a job, and waits for it. */
export async function backtestService(context: Context, asked: BacktestOptions): Promise<void> {
  const { api, out, settings } = context;
  const { against } = asked;
  if (against !== undefined && !VERSION_NAME.test(against)) {
    const fix = "give a version such as v3; use --model to judge a directory, compared with that version";
    throw new UsageError(`--against is ${JSON.stringify(against)}, but on a service it must be a version`, fix);
  }
  settings.credentials();
  const body = {
    ...questionOf(asked, out.now),
    customers: asked.sample,
    traits: asked.presentTraits ? "now" : undefined,
    ...(await judged(context, asked)),
    against,
  };
  // It changes nothing, so an unknown outcome does not matter.
  const { data } = await cancellable((stop) => api.post<BacktestJob>(["backtests"], body, MEMBERS, stop)).catch(
    async (error: unknown) => {
      throw (await lacksModel(context, asked, error)) ? nothingToJudge(context, error) : error;
    },
  );
  await printResult(context, data, asked);
}

/** Whether a backtest of the active version was refused because there is none. */
async function lacksModel(context: Context, { version, model }: BacktestOptions, error: unknown): Promise<boolean> {
  if (version !== undefined || model !== undefined) return false;
  if (!(error instanceof UserError && error.code === "VERSION_NOT_FOUND")) return false;
  return (await activeVersion(context)) === null;
}

function nothingToJudge({ settings }: Context, cause: unknown): UserError {
  const { environment, project } = settings;
  const message = `nothing was deployed to ${environment} of project ${project} yet, so there is no model to judge`;
  const fix = `give one with --model or --version, or deploy it first: \`svc deploy --env ${environment}\``;
  return failure("NOTHING_DEPLOYED", message, fix, cause);
}

/** Waits for an earlier backtest, and prints its result. */
export async function printBacktestJob(context: Context, id: string, forms: Forms): Promise<void> {
  const { data } = await cancellable((stop) => context.api.get<BacktestJob>(["backtests", id], MEMBERS, {}, stop));
  await printResult(context, data, forms);
}

async function printResult(context: Context, first: BacktestJob, forms: Forms): Promise<void> {
  const { out, settings } = context;
  const place = ["backtests", first.id];
  const command = out.typed(`svc backtest --job ${shellWord(first.id)} --env ${first.environment}`);
  const job = await waitForJob(context, first, {
    path: place,
    members: MEMBERS,
    untouched: "; it changes nothing",
    onDeadLetter: `fix the cause, then ask again; this one stays at ${command}`,
    onStop: `see its result: ${command}`,
  });
  const { report } = job;
  if (report === null) throw new Error(`${job.id} is completed and has no report`);
  const { configVersion, hash } = job.model;
  await printBacktest(out, forms, {
    backtest: { ...job, report },
    question: questionOfAnswer(report),
    pages: samplesOf(context, place),
    title: `Backtest ${job.id} in ${job.environment} of ${settings.project}`,
    source: `${job.id}, ${configVersion ?? `model ${hash.slice(0, 12)}`}`,
  });
}

/** The request's members that select the model to judge; none for the active version. */
async function judged(context: Context, { version, model }: BacktestOptions): Promise<object> {
  if (model === undefined) return { version };
  const { snapshot } = await compileWithNotes(context, path.resolve(context.io.cwd, model));
  return { snapshot };
}

async function* samplesOf({ api }: Context, place: readonly string[]): AsyncGenerator<CustomerSamples[]> {
  for await (const { data } of readAll<CustomerSamples>(api, [...place, "samples"], {}, { patient: "all" })) {
    yield data.data;
  }
}
