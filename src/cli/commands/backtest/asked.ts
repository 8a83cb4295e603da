import type { QuestionWords } from "../../../backtest/question.js";
import { isDuration, parseDuration } from "../../../model/snapshot/duration.js";
import { UsageError } from "../../core/errors.js";
import { optionName } from "../../core/values.js";

/** How what came of a backtest is printed, besides as JSON: for people where it is neither. */
export interface Forms {
  csv: boolean;
  markdown: boolean;
}

/** What the options of `svc backtest` ask. */
export interface Asked extends Forms {
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

/** Options that ask a new backtest. */
const ASKING = [
  ...["outcome", "within", "every", "from", "to", "sample"],
  ...["version", "model", "against", "presentTraits", "events"],
];
/** Options that are of a service. */
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
      `${are(asking)} of a new backtest, and --job is one that was asked before`,
      "leave out either",
    );
  }
  const models = given(["version", "model"]);
  if (models.length > 1) throw new UsageError(`${models.join(" and ")} exclude each other`, "give one of them");
  const ofService = options["events"] === undefined ? [] : given(OF_SERVICE);
  if (ofService.length > 0) {
    const fix = ofService.includes("--version") ? "give a directory with --model" : "leave out either";
    throw new UsageError(`${are(ofService)} of a service, and --events needs none`, fix);
  }
}

/** The words of the question. @param end before which a duration lies, in milliseconds */
export function wordsOf({ outcome, within, every, from, to }: Asked, end: number): QuestionWords {
  const instant = (text: string) => (isDuration(text) ? new Date(end - parseDuration(text)).toISOString() : text);
  return {
    outcome,
    within,
    ...(every === undefined ? {} : { every }),
    ...(from === undefined ? {} : { from: instant(from) }),
    ...(to === undefined ? {} : { to: instant(to) }),
  };
}
