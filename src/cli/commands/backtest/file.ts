import { existsSync } from "node:fs";
import path from "node:path";

import { QuestionProblem } from "../../../backtest/question.js";
import { backtestOfFile } from "../../../local/backtest.js";
import { FileRefusedError, readOperations } from "../../../local/operations-file.js";
import { optionName } from "../../core/values.js";
import type { Context } from "../../core/command.js";
import { compileWithNotes } from "../../core/compile.js";
import { failure, UsageError } from "../../core/errors.js";
import { codeSpan } from "../../output/markdown.js";
import { plural, printable } from "../../../words/text.js";
import { VERSION_NAME } from "../config/stored-versions.js";
import { type BacktestOptions, questionOf } from "./asked.js";
import { printBacktest } from "./report.js";

/** Judges the local model over a file of operations, without a service. */
export async function backtestFile(context: Context, file: string, asked: BacktestOptions): Promise<void> {
  const { out, settings, io } = context;
  const { against } = asked;
  const resolved = (folder: string) => path.resolve(io.cwd, folder);
  if (against !== undefined && VERSION_NAME.test(against) && !existsSync(resolved(against))) {
    const message = `--against is ${JSON.stringify(against)}: versions are on a service, but --events uses none`;
    throw new UsageError(message, "give the directory of the other model");
  }
  const judged = await compileWithNotes(
    context,
    asked.model === undefined ? settings.directory : resolved(asked.model),
  );
  const other =
    against === undefined
      ? []
      : [{ name: printable(against), ...(await compileWithNotes(context, resolved(against))) }];
  const past = await read(resolved(file), judged.snapshot);
  if (past.repeated > 0) {
    out.note(`${plural(past.repeated, "line")} repeated an idempotency key with the same payload, and counted once.`);
  }
  if (past.ahead > 0) out.note(`Left out, because they are in the future: ${plural(past.ahead, "event")}.`);
  if (past.isUnordered && !asked.presentTraits) {
    out.note(
      "The lines of the file are not in order of time. An identify takes effect at the latest event of the lines before it, " +
        "and so possibly too late: sort the file by time.",
    );
  }
  const { question, samples, customersTotal, report } = await backtestOfFile(
    questionOf(asked, past.end),
    [{ name: "local", ...judged }, ...other],
    past,
    { traits: asked.presentTraits ? "now" : "then", customers: asked.sample },
  ).catch((error: unknown) => {
    throw error instanceof QuestionProblem ? usageError(error) : error;
  });
  const backtest = {
    customers: samples.length < customersTotal ? samples.length : null,
    traits: asked.presentTraits ? ("now" as const) : ("then" as const),
    model: { configVersion: null, hash: judged.hash },
    against: against ?? null,
    report,
  };
  const name = path.basename(file);
  const title = `A backtest over ${printable(name)}`;
  const source = `${codeSpan(name)}, model ${judged.hash.slice(0, 12)}`;
  await printBacktest(out, asked, { backtest, question, pages: [samples], title, source });
}

async function read(file: string, snapshot: Parameters<typeof readOperations>[1]) {
  try {
    return await readOperations(file, snapshot);
  } catch (error) {
    if (error instanceof FileRefusedError) {
      const problems = error.problems.map((problem) => ({ severity: "error", file: path.basename(file), ...problem }));
      const details = problems.length === 0 ? {} : { problems };
      throw failure("EVENTS_FILE_INVALID", error.message, error.fix, error, details);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new UsageError(`${file} cannot be read (${code})`, "correct --events");
  }
}

/** A problem of the question as a usage error, named by its option. */
function usageError({ path: member, message, fix }: QuestionProblem): UsageError {
  return new UsageError(`--${optionName(member)}: ${message}`, fix);
}
