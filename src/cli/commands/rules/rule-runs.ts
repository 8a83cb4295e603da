import type { RuleExecution } from "../../client/answers.js";
import type { Action } from "../../../model/snapshot/types.js";
import { actionText } from "../../../model/snapshot/words.js";
import { type ExplanationDocument, explanationInWords } from "../customers/explanation.js";
import type { Out } from "../../output/out.js";
import { localTime, printable } from "../../output/text.js";

/** Colours what a run ended as. */
export function outcomeIn({ style }: Out, { result }: RuleExecution, text: string): string {
  return { pass: style.green, fail: style.yellow, skip: style.dim, error: style.red }[result](text);
}

/** A run with what triggered it, how its condition came out, and what the rule does when it passes. */
export function runInWords(out: Out, run: RuleExecution): string {
  const { bold, dim } = out.style;
  const { customerId, ruleId, result, triggeredBy, executedAt, cause, configVersion, error, conditions, action } = run;
  const because = [cause.type, cause.id].filter((part) => part !== null).join(" ");
  const triggered = `triggered by ${triggeredBy} (${because})${configVersion === null ? "" : `, ${configVersion}`}`;
  return [
    `${localTime(executedAt, out.timeZone)}  ${bold(printable(ruleId))} for ${printable(customerId)}: ` +
      `${outcomeIn(out, run, result)}, ${outcomeInWords(run)}`,
    `  ${dim(printable(triggered))}`,
    ...(error === null ? [] : [`  ${out.style.red(printable(error))}`]),
    ...(conditions !== undefined && isExplanation(conditions) ? [explanationInWords(out, conditions)] : []),
    ...(action === undefined ? [] : [`  ${result === "pass" ? "did" : "would"}: ${printable(actionInWords(action))}`]),
  ].join("\n");
}

function outcomeInWords({ result }: RuleExecution): string {
  return {
    pass: "it acted",
    fail: "its condition was unmet",
    skip: "it rests after it acted before",
    error: "it could not be run",
  }[result];
}

function isExplanation(conditions: object): conditions is ExplanationDocument {
  return "kind" in conditions;
}

function actionInWords({ type, eventType, ...rest }: NonNullable<RuleExecution["action"]>): string {
  return actionText({ ...rest, kind: type, ...(eventType === undefined ? {} : { type: eventType }) } as Action);
}
