import { asks, askUntil } from "../../output/change.js";
import type { Context } from "../../core/command.js";
import { UsageError } from "../../core/errors.js";
import { optionName } from "../../core/values.js";
import { UNPRINTABLE } from "../../output/text.js";

/** What a model of success is made of. */
export interface SuccessAnswers {
  /** What the product does, in the author's words. */
  product: string;
  /** The event that begins a customer's life. */
  startEvent: string;
  /** The event that shows value. */
  valueEvent: string;
  /** How many of those make a customer activated. */
  valueCount: number;
  /** Within how many days. */
  activationDays: number;
  /** The event of regular use. */
  usageEvent: string;
  /** Days without any event until a customer is at risk. */
  atRiskDays: number;
  /** Days at risk until a customer is lost. */
  churnedDays: number;
}

export type SuccessOption = keyof SuccessAnswers;

/** A question, and the option of the command line that answers it. */
export interface Question<Option extends SuccessOption = SuccessOption> {
  /** In camel case: `valueEvent` is `--value-event`. */
  option: Option;
  label: string;
  default: SuccessAnswers[Option];
  /** What is wrong with an answer, in words that say what to give; undefined where nothing is. */
  check: (answer: string) => string | undefined;
}

const PRODUCT_LENGTH_MAX = 500;
const NAME_LENGTH_MAX = 256;
const COUNT_MAX = 1_000;
const DAYS_MAX = 365;
/** No model may have an event of these names. */
const FORBIDDEN = ["__proto__", "constructor", "prototype"];

/** The questions of a model of success, in the order in which they are asked. */
export const QUESTIONS: readonly Question[] = [
  text("product", "What does the product do?", "It helps teams to plan their projects"),
  eventName("startEvent", "Which event begins a customer's life?", "signed_up"),
  eventName("valueEvent", "Which event shows that a customer gets value?", "project_created"),
  number("valueCount", "How many of those make a customer activated?", 3, COUNT_MAX),
  number("activationDays", "Within how many days?", 14, DAYS_MAX),
  eventName("usageEvent", "Which event is regular use?", "login"),
  number("atRiskDays", "After how many days without any event is a customer at risk?", 21, DAYS_MAX),
  number("churnedDays", "After how many more is it lost?", 60, DAYS_MAX),
];

/** What was said on the command line, as far as it was. */
export type GivenAnswers = Readonly<{ [Option in SuccessOption]?: string | number | undefined }>;

/**
 * Asks, on a terminal, for what was not said, or takes what it is by default where nobody is to be asked.
 *
 * @param yes whether nothing is to be asked.
 * @throws {UsageError} for what was said and cannot be; CANCELLED when a question is left.
 */
export async function settleAnswers(
  context: Context,
  said: GivenAnswers,
  { yes }: { yes: boolean },
): Promise<SuccessAnswers> {
  for (const { option, check } of QUESTIONS) {
    const given = said[option];
    const mistake = given === undefined ? undefined : check(String(given).trim());
    if (mistake !== undefined) throw new UsageError(`--${optionName(option)} is ${JSON.stringify(given)}`, mistake);
  }
  const isAsked = asks(context, yes);
  const answers: Partial<Record<SuccessOption, string | number>> = {};
  for (const question of QUESTIONS) {
    const { label, default: otherwise, check: mistakeIn } = question;
    const asked = () => askUntil(context, label, { otherwise: String(otherwise), ending: "", mistakeIn });
    const given = said[question.option] ?? (isAsked ? await asked() : otherwise);
    const settled = String(given).trim();
    answers[question.option] = typeof otherwise === "number" ? Number(settled) : settled;
  }
  // Each option has its question, and each question its answer.
  return answers as SuccessAnswers;
}

function text(option: "product", label: string, otherwise: string): Question {
  const mistake = `give 1 to ${PRODUCT_LENGTH_MAX} characters in one line`;
  const check = (said: string) => (isText(said, PRODUCT_LENGTH_MAX) ? undefined : mistake);
  return { option, label, default: otherwise, check };
}

function eventName(option: SuccessOption, label: string, otherwise: string): Question {
  const mistake = `give the name of an event, 1 to ${NAME_LENGTH_MAX} characters`;
  const check = (said: string) =>
    FORBIDDEN.includes(said) ? "choose another name" : isText(said, NAME_LENGTH_MAX) ? undefined : mistake;
  return { option, label, default: otherwise, check };
}

function number(option: SuccessOption, label: string, otherwise: number, most: number): Question {
  const mistake = `give a whole number from 1 to ${most}`;
  const check = (said: string) => (/^[1-9]\d{0,9}$/.test(said) && Number(said) <= most ? undefined : mistake);
  return { option, label, default: otherwise, check };
}

/** Whether it is text that people read as it stands, of a length in characters. */
function isText(said: string, most: number): boolean {
  const isWhole = !/\p{Surrogate}/u.test(said) && said.search(UNPRINTABLE) < 0;
  return isWhole && said.trim() === said && said !== "" && said.length <= most;
}
