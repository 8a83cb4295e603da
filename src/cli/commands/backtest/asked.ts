import type { QuestionInput } from "../../../backtest/question.js";
import { isDuration, parseDuration } from "../../../model/snapshot/duration.js";
import { type Options, type OptionValues, projectOptions } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { optionName } from "../../core/values.js";

const instant = "a date, a date-time, or how long before the end of the known history, such as 90d";

export const backtestOptions = {
  outcome: {
    type: "text",
    describe: "The outcome to predict: state:<id>, event:<name> or segment:<id>; required without --job",
  },
  within: {
    type: "text",
    describe: "How soon after a look the outcome must occur, such as 60d; required without --job",
  },
  every: { type: "text", describe: "How often customers are looked at; 7d unless given" },
  from: { type: "text", describe: `The first look, a year before the last unless given: ${instant}` },
  to: { type: "text", describe: "The last look, the end of the known history unless given; as --from" },
  sample: {
    type: "integer",
    min: 1,
    max: 1_000_000_000,
    describe: "Look at about this many customers; all unless given",
  },
  version: { type: "text", describe: "Judge this version, such as v3; the active one unless given" },
  model: { type: "text", describe: "Judge the model in this directory, which need not be deployed" },
  against: {
    type: "text",
    describe: "Judge another model too, on the same samples: a version, or with --events a directory",
  },
  events: {
    type: "text",
    describe: "Read the past from this file of JSON Lines, without a service; it judges the local model",
  },
  presentTraits: {
    type: "flag",
    describe: "Use the present traits for every instant, for an imported history; this looks ahead",
  },
  job: { type: "text", describe: "Wait for this earlier backtest, and print its result" },
  csv: { type: "flag", describe: "Print the samples as CSV: what the models said, and the outcome" },
  markdown: { type: "flag", describe: "Print a comment for a pull request" },
  ...projectOptions,
} as const satisfies Options;

type Given = OptionValues<typeof backtestOptions>;

/** The options of a new backtest, which needs an outcome, and how soon it must occur. */
export type BacktestOptions = Given & { outcome: string; within: string };

/** How to print a backtest's result, unless as JSON; for people if neither is set. */
export type Forms = Pick<Given, "csv" | "markdown">;

/** Options that only apply to a new backtest. */
const ASKING = [
  ...["outcome", "within", "every", "from", "to", "sample"],
  ...["version", "model", "against", "presentTraits", "events"],
];
/** Options that only apply to a service. */
const OF_SERVICE = ["project", "env", "version"];

/** Refuses options that do not go together. @throws {UsageError} */
export function refuseCombinations(options: Readonly<Record<string, unknown>>): void {
  const given = (names: readonly string[]) =>
    names
      .filter((name) => options[name] !== undefined && options[name] !== false)
      .map((name) => `--${optionName(name)}`);
  const are = (names: readonly string[]) => `${names.join(" and ")} ${names.length === 1 ? "is" : "are"}`;
  const forms = given(["json", "csv", "markdown"]);
  if (forms.length > 1) throw new UsageError(`${forms.join(" and ")} exclude each other`, "give one of them");
  const asking = given(ASKING);
  if (options["job"] !== undefined && asking.length > 0) {
    throw new UsageError(
      `${are(asking)} for a new backtest, but --job selects an earlier one`,
      "leave out one or the other",
    );
  }
  const models = given(["version", "model"]);
  if (models.length > 1) throw new UsageError(`${models.join(" and ")} exclude each other`, "give one of them");
  const ofService = options["events"] === undefined ? [] : given(OF_SERVICE);
  if (ofService.length > 0) {
    const fix = ofService.includes("--version") ? "give a directory with --model" : "leave out one or the other";
    throw new UsageError(`${are(ofService)} for a service, but --events uses none`, fix);
  }
}

/** The backtest's question. @param end the instant that durations count back from, in milliseconds */
export function questionOf({ outcome, within, every, from, to }: BacktestOptions, end: number): QuestionInput {
  const instant = (text: string) => (isDuration(text) ? new Date(end - parseDuration(text)).toISOString() : text);
  return {
    outcome,
    within,
    ...(every === undefined ? {} : { every }),
    ...(from === undefined ? {} : { from: instant(from) }),
    ...(to === undefined ? {} : { to: instant(to) }),
  };
}
