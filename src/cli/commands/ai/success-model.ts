import * as dsl from "../../../dsl/index.js";
import { fromTemplate } from "../../core/package.js";
import type { SuccessAnswers } from "./success-questions.js";

/** Of a line, in characters. */
const WIDTH = 120;
/** Of an event's constant, before it is told apart from others. */
const NAME_LENGTH_MAX = 20;

/** Names that no event's constant has: the language's, the model's own, and words of JavaScript. */
const TAKEN = new Set([
  ...Object.keys(dsl),
  ...["activation", "inRegularUse", "backInUse", "stages", "onboarding", "score"],
  ...["stuckInTrial", "champions", "goingQuiet", "rescued"],
  ..."arguments await break case catch class const continue debugger default delete do else enum eval".split(" "),
  ..."export extends false finally for function if implements import in instanceof interface let new".split(" "),
  ..."null package private protected public return static super switch this throw true try typeof".split(" "),
  ..."undefined using var void while with yield".split(" "),
]);

/**
 * The source of a model (`svc.config.ts`) of how customers of a product succeed: a lifecycle from the first event to the last, an
 * onboarding, a health score, two segments, a signal and a rule. It compiles without warnings for all answers that the questions take,
 * and is a start: an author goes on from it. The same answers give the same text.
 */
export function successModel(answers: SuccessAnswers): string {
  const { startEvent, valueEvent, usageEvent, valueCount, activationDays, atRiskDays, churnedDays } = answers;
  const names = namesOf([startEvent, valueEvent, usageEvent]);
  const [start, value, usage] = [startEvent, valueEvent, usageEvent].map((event) => names.get(event)!);
  const back = [...new Set([usage, value])].map((name) => `${name}.happened().since("state")`);
  const half = Math.ceil(atRiskDays / 2);
  const steps = [
    `step("first_value", ${value}.happened())`,
    ...(usage === value ? [] : [`step("first_use", ${usage}.happened())`]),
    ...(valueCount === 1 ? [] : [`step("reach_value", ${value}.count().atLeast(${valueCount}))`]),
  ];
  return fromTemplate("success-model.txt", {
    // A comment that begins with such a word would speak to the compiler.
    PRODUCT: wrapped(`The product: ${answers.product.replace(/@(?=ts-)/g, "")}`),
    ANY: usage === value ? "" : "any,",
    EVENTS: [...names].map(([name, constant]) => eventOf(name, constant)).join("\n\n"),
    ...{ START: start!, VALUE: value!, USAGE: usage!, NAMES: [...names.values()].join(", ") },
    VALUE_COUNT: String(valueCount),
    VALUE_TIMES: valueCount === 1 ? "once" : `${valueCount} times`,
    ACTIVATION: String(activationDays),
    ACTIVATION_DAYS: days(activationDays),
    ...{ AT_RISK: String(atRiskDays), CHURNED: String(churnedDays), LOST: String(atRiskDays + churnedDays) },
    BACK_IN_USE: back.length === 1 ? `const backInUse = ${back[0]};` : listed("const backInUse = any", "()", back, ";"),
    STEPS: listed("steps: ", "[]", steps, ",", 2),
    QUIET: atRiskDays === 1 ? "12h" : `${half}d`,
    QUIET_DAYS: atRiskDays === 1 ? "12 hours" : days(half),
  });

  function eventOf(name: string, constant: string): string {
    const said = [
      ...(constant === start ? ["it begins a customer's life"] : []),
      ...(constant === value ? ["it shows that a customer gets value"] : []),
      ...(constant === usage ? ["it is regular use"] : []),
    ].join(", and ");
    const declared = listed(`const ${constant} = event`, "()", [JSON.stringify(name)], ";");
    return `/** ${said.charAt(0).toUpperCase()}${said.slice(1)}. */\n${declared}`;
  }
}

/** A constant for each of the events, once each: `signed_up` is `signedUp`. */
function namesOf(events: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const event of new Set(events)) {
    const words = event
      .normalize("NFKD")
      .replace(/\p{Mark}/gu, "")
      .split(/[^A-Za-z0-9]+/)
      .filter((word) => word !== "");
    const joined = words.map(
      (word, index) => word.charAt(0)[index === 0 ? "toLowerCase" : "toUpperCase"]() + word.slice(1),
    );
    const base = joined.join("").slice(0, NAME_LENGTH_MAX);
    const name = /^[a-z]/.test(base) ? base : `event${base}`;
    const isTaken = (one: string) => TAKEN.has(one) || [...names.values()].includes(one);
    const candidates = [name, `${name}Event`, `${name}Event2`, `${name}Event3`];
    names.set(
      event,
      candidates.find((one) => !isTaken(one))!,
    );
  }
  return names;
}

/** A comment of lines of at most that width, but for longer words. */
function wrapped(said: string): string {
  const lines = [""];
  for (const word of said.split(/\s+/)) {
    const last = lines.at(-1)!;
    if (last !== "" && last.length + word.length + 4 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `// ${line}`).join("\n");
}

function days(count: number): string {
  return count === 1 ? "a day" : `${count} days`;
}

/** Items between two brackets in one line, or each in a line where that is too long. */
function listed(head: string, brackets: "()" | "[]", items: readonly string[], end: string, indentation = 0): string {
  const [open, close] = brackets;
  const line = `${head}${open}${items.join(", ")}${close}${end}`;
  if (indentation + line.length <= WIDTH) return line;
  return `${head}${open}\n${items.map((one) => `  ${one},\n`).join("")}${close}${end}`;
}
