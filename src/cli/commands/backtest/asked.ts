import type { QuestionInput } from "../../../backtest/question.js";
import { isDuration, parseDuration } from "../../../model/snapshot/duration.js";
import { UsageError } from "../../core/errors.js";
import { optionName } from "../../core/values.js";

/** How to print a backtest's result, unless as JSON; for people if neither is set. */
export interface Forms {
  csv: boolean;
  markdown: boolean;
}

/** The options of `svc backtest` that ask a question. */
export interface BacktestOptions extends Forms {
  outcome: string;
  within: string;
  every: string | undefined;
  from: string | undefined;
  to: string | undefined;
  sample: number | undefined;
  version: string | undefined;
  model: string | undefined;
  against: string | undefined;
  presentTraits: boolean;
}

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
