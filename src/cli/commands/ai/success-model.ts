import * as dsl from "../../../dsl/index.js";
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
  const names = namesOf([answers.startEvent, answers.valueEvent, answers.usageEvent]);
  const model: Model = {
    ...answers,
    names,
    start: names.get(answers.startEvent)!,
    value: names.get(answers.valueEvent)!,
    usage: names.get(answers.usageEvent)!,
  };
  return [
    headerOf(model),
    eventsOf(model),
    lifecycleOf(model),
    onboardingOf(model),
    healthOf(model),
    segmentsOf(model),
    signalOf(model),
    partsOf(model),
  ].join("\n");
}

interface Model extends SuccessAnswers {
  /** The constants of the events, by their names. */
  names: ReadonlyMap<string, string>;
  /** The constants of the three. */
  start: string;
  value: string;
  usage: string;
}

function headerOf({ product, usage, value }: Model): string {
  // A comment that begins with such a word would speak to the compiler.
  const said = product.replace(/@(?=ts-)/g, "");
  return `// How customers succeed.
${wrapped(`The product: ${said}`)}
//
// \`svc validate\` checks this model, \`svc dev\` tries it on your machine, \`svc deploy --env test\` ships it as a new version.
import {
  all,${usage === value ? "" : "\n  any,"}
  daysSince,
  defineModel,
  emit,
  event,
  health,
  inactiveFor,
  inState,
  journey,
  lifecycle,
  rule,
  scale,
  segment,
  signal,
  step,
} from "svc";
`;
}

function eventsOf({ names, start, value, usage }: Model): string {
  const lines = [...names].map(([name, constant]) => {
    const roles = [
      ...(constant === start ? ["it begins a customer's life"] : []),
      ...(constant === value ? ["it shows that a customer gets value"] : []),
      ...(constant === usage ? ["it is regular use"] : []),
    ].join(", and ");
    return `/** ${roles.charAt(0).toUpperCase()}${roles.slice(1)}. */\n${call(`const ${constant} = event`, [JSON.stringify(name)], ";")}\n`;
  });
  return `// What happens. Declare the properties that a condition or a reader will ask for: event("…", { seats: number() }).\n\n${lines.join("\n")}`;
}

function lifecycleOf({ start, value, usage, valueCount, activationDays, atRiskDays, churnedDays }: Model): string {
  const back = [...new Set([usage, value])].map((name) => `${name}.happened().since("state")`);
  return `/** Activated: ${times(valueCount)} within ${days(activationDays)}. */
const activation = ${value}.count().atLeast(${valueCount}).within("${activationDays}d");

/** Engaged: in use on about every other working day. */
const inRegularUse = ${usage}.count().atLeast(3).within("7d");

/** Real use since the state was entered. */
${back.length === 1 ? `const backInUse = ${back[0]!};` : call("const backInUse = any", back, ";")}

// Where each customer stands. The first transition whose condition holds is taken, so the order within a state matters.
const stages = lifecycle({
  initial: "new",
  states: {
    // Known, but without the first event. Customers from before it was sent may be activated at once.
    new: { to: { activated: activation, trial: ${start}.happened() } },

    // On the way to the first value. Silence for as long as loses any other customer ends the trial.
    trial: { to: { activated: activation, churned: inactiveFor("${atRiskDays + churnedDays}d") } },

    // The value was seen, and the use is not regular yet, or no longer.
    activated: { to: { at_risk: inactiveFor("${atRiskDays}d"), engaged: inRegularUse } },

    // In regular use. A week without any falls back without alarm; silence is the alarm.
    engaged: { to: { at_risk: inactiveFor("${atRiskDays}d"), activated: ${usage}.never().within("7d") } },

    // Silent for too long. Real use brings it back.
    at_risk: { to: { activated: backInUse, churned: inState().atLeast("${churnedDays}d") } },

    churned: { terminal: true },
  },
});
`;
}

function onboardingOf({ start, value, usage, valueCount, activationDays }: Model): string {
  const steps = [
    `step("first_value", ${value}.happened())`,
    ...(usage === value ? [] : [`step("first_use", ${usage}.happened())`]),
    ...(valueCount === 1 ? [] : [`step("reach_value", ${value}.count().atLeast(${valueCount}))`]),
  ];
  return `// What a new customer should do, in whatever order. Everything counts from the start on, and what starts it does not count itself.
const onboarding = journey("onboarding", {
  start: ${start}.happened(),
  anyOrder: true,
${listed("  steps: ", steps)}
  expiresAfter: "${activationDays}d",
});
`;
}

function healthOf({ value, usage, valueCount, activationDays, atRiskDays }: Model): string {
  return `// 0 to 100, and a band.
const score = health({
  components: {
    /** As much value as makes a customer activated, again and again, is all that is asked. */
    adoption: { weight: 0.6, score: scale(${value}.count().within("${activationDays}d"), { from: 0, to: ${valueCount} }) },
    /** 100 on a day of use, 0 after as many days as put a customer at risk. */
    engagement: { weight: 0.4, score: scale(daysSince(${usage}), { from: ${atRiskDays}, to: 0 }) },
  },
  bands: { healthy: 70, at_risk: 40, critical: 0 },
});
`;
}

function segmentsOf({ activationDays }: Model): string {
  return `/** The time is over in which others were activated: this is where help is worth most. */
const stuckInTrial = segment("stuck_in_trial", {
  when: all(stages.is("trial"), inState().atLeast("${activationDays}d"), onboarding.isNot("complete")),
});

/** In regular use and in good health: references, and the first to ask about something new. */
const champions = segment("champions", { when: all(stages.is("engaged"), score.band.is("healthy")) });
`;
}

function signalOf({ atRiskDays }: Model): string {
  const half = atRiskDays === 1 ? "12h" : `${Math.ceil(atRiskDays / 2)}d`;
  return `/** Half of the silence that puts a customer at risk has passed: the time to call is now. */
const goingQuiet = signal("going_quiet", {
  severity: "warning",
  message: "The customer has not been heard of for ${half === "12h" ? "12 hours" : days(Math.ceil(atRiskDays / 2))}",
  when: all(stages.in("activated", "engaged"), inactiveFor("${half}")),
});

/** It came back before it was at risk. Webhooks receive \`success.customer_rescued\`. */
const rescued = rule("rescued", {
  on: goingQuiet.cleared(),
  when: stages.in("activated", "engaged"),
  cooldown: "7d",
  then: emit("success.customer_rescued"),
});
`;
}

function partsOf({ names }: Model): string {
  return `export default defineModel({
  // Other events are accepted as well. With true, what is not declared here is refused, and a misspelt name is found at once.
  strictSchema: false,
  events: [${[...names.values()].join(", ")}],
  lifecycle: stages,
  journeys: [onboarding],
  segments: [stuckInTrial, champions],
  health: score,
  rules: [rescued],
  signals: [goingQuiet],
});
`;
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

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function days(count: number): string {
  return count === 1 ? "a day" : `${count} days`;
}

/** A call in one line, or with an argument in each where that is too long. */
function call(head: string, given: readonly string[], end: string): string {
  const line = `${head}(${given.join(", ")})${end}`;
  return line.length <= WIDTH ? line : `${head}(\n${given.map((one) => `  ${one},\n`).join("")})${end}`;
}

/** A list in one line, or with an item in each where that is too long. */
function listed(head: string, items: readonly string[]): string {
  const line = `${head}[${items.join(", ")}],`;
  return line.length <= WIDTH ? line : `${head}[\n${items.map((one) => `    ${one},\n`).join("")}  ],`;
}
