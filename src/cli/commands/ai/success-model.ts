import * as dsl from "../../../dsl/index.js";
import type { Context } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { fromTemplate } from "../../core/package.js";
import { optionName } from "../../core/values.js";
import { shouldAsk, askUntil } from "../../output/confirmation.js";
import { UNPRINTABLE } from "../../../words/text.js";

/** The answers that a success model is made from; the questions below say what each is. */
export type SuccessAnswers = Record<"product" | "startEvent" | "valueEvent" | "usageEvent", string> &
  Record<"valueCount" | "activationDays" | "atRiskDays" | "churnedDays", number>;

export type SuccessOption = keyof SuccessAnswers;

/** A question, and the command-line option that answers it. */
export interface SuccessQuestion<Option extends SuccessOption = SuccessOption> {
  /** In camel case: `valueEvent` is `--value-event`. */
  option: Option;
  label: string;
  default: SuccessAnswers[Option];
  /** What to give instead of a wrong answer; undefined if the answer is valid. */
  check: (answer: string) => string | undefined;
}

const PRODUCT_LENGTH_MAX = 500;
const NAME_LENGTH_MAX = 256;
const COUNT_MAX = 1_000;
const DAYS_MAX = 365;
/** No model may have an event of these names. */
const FORBIDDEN = ["__proto__", "constructor", "prototype"];

/** The questions for a success model, in the order in which they are asked. */
export const QUESTIONS: readonly SuccessQuestion[] = [
  text("product", "What does the product do?", "It helps teams to plan their projects"),
  eventName("startEvent", "Which event begins a customer's life?", "signed_up"),
  eventName("valueEvent", "Which event shows that a customer gets value?", "project_created"),
  number("valueCount", "How many of those make a customer activated?", 3, COUNT_MAX),
  number("activationDays", "Within how many days?", 14, DAYS_MAX),
  eventName("usageEvent", "Which event is regular use?", "login"),
  number("atRiskDays", "After how many days without any event is a customer at risk?", 21, DAYS_MAX),
  number("churnedDays", "After how many more is it lost?", 60, DAYS_MAX),
];

/** The answers given on the command line. */
export type GivenAnswers = Readonly<{ [Option in SuccessOption]?: string | number | undefined }>;

/**
 * On a terminal and unless `yes`, asks for answers that were not given; otherwise takes the defaults. @throws {UsageError} for an invalid
 * given answer; CANCELLED
 */
export async function settleAnswers(
  context: Context,
  answersGiven: GivenAnswers,
  { yes }: { yes: boolean },
): Promise<SuccessAnswers> {
  for (const { option, check } of QUESTIONS) {
    const given = answersGiven[option];
    const mistake = given === undefined ? undefined : check(String(given).trim());
    if (mistake !== undefined) throw new UsageError(`--${optionName(option)} is ${JSON.stringify(given)}`, mistake);
  }
  const isAsked = shouldAsk(context, yes);
  const answers: Partial<Record<SuccessOption, string | number>> = {};
  for (const question of QUESTIONS) {
    const { label, default: otherwise, check: mistakeIn } = question;
    const asked = () => askUntil(context, label, { otherwise: String(otherwise), ending: "", mistakeIn });
    const given = answersGiven[question.option] ?? (isAsked ? await asked() : otherwise);
    const settled = String(given).trim();
    answers[question.option] = typeof otherwise === "number" ? Number(settled) : settled;
  }
  // Each option has a question, and each question now has an answer.
  return answers as SuccessAnswers;
}

function text(option: "product", label: string, otherwise: string): SuccessQuestion {
  const mistake = `give 1 to ${PRODUCT_LENGTH_MAX} characters in one line`;
  const check = (answer: string) => (isText(answer, PRODUCT_LENGTH_MAX) ? undefined : mistake);
  return { option, label, default: otherwise, check };
}

function eventName(option: SuccessOption, label: string, otherwise: string): SuccessQuestion {
  const mistake = `give the name of an event, 1 to ${NAME_LENGTH_MAX} characters`;
  const check = (answer: string) =>
    FORBIDDEN.includes(answer) ? "choose another name" : isText(answer, NAME_LENGTH_MAX) ? undefined : mistake;
  return { option, label, default: otherwise, check };
}

function number(option: SuccessOption, label: string, otherwise: number, most: number): SuccessQuestion {
  const mistake = `give a whole number from 1 to ${most}`;
  const check = (answer: string) => (/^[1-9]\d{0,9}$/.test(answer) && Number(answer) <= most ? undefined : mistake);
  return { option, label, default: otherwise, check };
}

/** Whether it is non-empty, trimmed, printable text of at most `most` characters. */
function isText(answer: string, most: number): boolean {
  const isPrintable = !/\p{Surrogate}/u.test(answer) && answer.search(UNPRINTABLE) < 0;
  return isPrintable && answer.trim() === answer && answer !== "" && answer.length <= most;
}

/** Line width, in characters. */
const WIDTH = 120;
/** Length limit of an event's constant, before a suffix makes it unique. */
const CONSTANT_LENGTH_MAX = 20;

/** Names that no event's constant may have: the DSL's, the model's own, and JavaScript keywords. */
const TAKEN = new Set([
  ...Object.keys(dsl),
  ...["activation", "inRegularUse", "backInUse", "stages", "onboarding", "score"],
  ...["stuckInTrial", "champions", "goingQuiet", "rescued"],
  ..."arguments await break case catch class const continue debugger default delete do else enum eval".split(" "),
  ..."export extends false finally for function if implements import in instanceof interface let new".split(" "),
  ..."null package private protected public return static super switch this throw true try typeof".split(" "),
  ..."undefined using var void while with yield".split(" "),
]);

/** The source of a success model, as a starting point. It compiles without warnings for all valid answers, and is deterministic. */
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
    // A comment that begins with `@ts-` would be a compiler directive.
    PRODUCT: wrapped(`The product: ${answers.product.replace(/@(?=ts-)/g, "")}`),
    ANY: usage === value ? "" : "any,",
    EVENTS: [...names].map(([name, constant]) => eventOf(name, constant)).join("\n\n"),
    START: start!,
    VALUE: value!,
    USAGE: usage!,
    NAMES: [...names.values()].join(", "),
    VALUE_COUNT: String(valueCount),
    VALUE_TIMES: valueCount === 1 ? "once" : `${valueCount} times`,
    ACTIVATION: String(activationDays),
    ACTIVATION_DAYS: days(activationDays),
    AT_RISK: String(atRiskDays),
    CHURNED: String(churnedDays),
    LOST: String(atRiskDays + churnedDays),
    BACK_IN_USE: back.length === 1 ? `const backInUse = ${back[0]};` : listed("const backInUse = any", "()", back, ";"),
    STEPS: listed("steps: ", "[]", steps, ",", 2),
    QUIET: atRiskDays === 1 ? "12h" : `${half}d`,
    QUIET_DAYS: atRiskDays === 1 ? "12 hours" : days(half),
  });

  function eventOf(name: string, constant: string): string {
    const roles = [
      ...(constant === start ? ["it begins a customer's life"] : []),
      ...(constant === value ? ["it shows that a customer gets value"] : []),
      ...(constant === usage ? ["it is regular use"] : []),
    ].join(", and ");
    const declared = listed(`const ${constant} = event`, "()", [JSON.stringify(name)], ";");
    return `/** ${roles.charAt(0).toUpperCase()}${roles.slice(1)}. */\n${declared}`;
  }
}

/** A constant name for each distinct event: `signed_up` is `signedUp`. */
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
    const base = joined.join("").slice(0, CONSTANT_LENGTH_MAX);
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

/** A comment wrapped to the line width, except for longer words. */
function wrapped(sentence: string): string {
  const lines = [""];
  for (const word of sentence.split(/\s+/)) {
    const last = lines.at(-1)!;
    if (last !== "" && last.length + word.length + 4 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `// ${line}`).join("\n");
}

function days(count: number): string {
  return count === 1 ? "a day" : `${count} days`;
}

/** Items between brackets on one line, or one item a line if that is too long. */
function listed(head: string, brackets: "()" | "[]", items: readonly string[], end: string, indentation = 0): string {
  const [open, close] = brackets;
  const line = `${head}${open}${items.join(", ")}${close}${end}`;
  if (indentation + line.length <= WIDTH) return line;
  return `${head}${open}\n${items.map((one) => `  ${one},\n`).join("")}${close}${end}`;
}
