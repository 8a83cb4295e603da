import type { ExplainedCustomer } from "../customers/explained.js";
import type { ExplanationDocument } from "../customers/explanation.js";
import type { Sanitizer } from "./sanitizer.js";

/** Kinds of conditions whose actual values the service computed: counts, instants, names of the model. Those of all others are a customer's own. */
const COMPUTED = new Set([
  "all",
  "any",
  "not",
  "count",
  "aggregate",
  "distinct",
  "daysSince",
  "sequence",
  "inactiveFor",
  "activeWithin",
  "lifecycle",
  "inState",
  "segment",
  "journey",
  "journeyStep",
  "health",
  "healthBand",
]);
/** Kinds that time alone makes true at a date of the customer's own, or a known span before or after it. */
const OF_DATES = new Set(["traitDateWithin", "traitDatePassed"]);
/** What is to be added to a number, which says nothing of a text. */
const AMOUNT = /^(less|more) than -?[\d.]+$/;

/** An explanation as it may be sent. Texts of conditions are the model's own. */
export function sentExplanation(sanitizer: Sanitizer, explanation: ExplanationDocument): Record<string, unknown> {
  const { kind, text, expected, actual, met, missing, flipsAt, conditions } = explanation;
  const isAmount = typeof missing === "number" || (typeof missing === "string" && AMOUNT.test(missing));
  return {
    text,
    met,
    ...(conditions === undefined
      ? {
          expected,
          actual: COMPUTED.has(kind) ? actual : sanitizer.valueIn(text, actual),
          ...(isAmount ? { missing } : {}),
        }
      : { kind, conditions: conditions.map((part) => sentExplanation(sanitizer, part)) }),
    ...(flipsAt === null || tellsDate(sanitizer, explanation) ? {} : { flipsAt }),
  };
}

/** Whether when it flips would tell a date that may not be sent. */
function tellsDate(sanitizer: Sanitizer, { kind, text, conditions }: ExplanationDocument): boolean {
  if (conditions !== undefined) return conditions.some((part) => tellsDate(sanitizer, part));
  return OF_DATES.has(kind) && !sanitizer.allowsIn(text);
}

/** Why a customer stands where it does, as it may be sent. */
export function sentWhy(sanitizer: Sanitizer, why: ExplainedCustomer): Record<string, unknown> {
  const sent = (condition: ExplanationDocument | null) => condition && sentExplanation(sanitizer, condition);
  return {
    asOf: why.asOf,
    configVersion: why.configVersion,
    activeVersion: why.activeVersion,
    unavailable: why.unavailable?.code ?? null,
    lifecycle: why.lifecycle && {
      state: why.lifecycle.state,
      transitions: why.lifecycle.transitions.map(({ to, condition }) => ({ to, condition: sent(condition) })),
    },
    journeys: why.journeys.map(({ journey, status, start, steps }) => ({
      journey,
      status,
      start: sent(start),
      steps: steps.map(({ step, completed, condition }) => ({ step, completed, condition: sent(condition) })),
    })),
    segments: why.segments.map(({ segment, member, condition }) => ({ segment, member, condition: sent(condition) })),
    health: why.health && {
      overall: why.health.overall,
      band: why.health.band,
      components: why.health.components.map(({ component, weight, score, measure }) => ({
        component,
        weight,
        score,
        measure: { text: measure.text, actual: sanitizer.valueIn(measure.text, measure.actual) },
      })),
    },
    signals: why.signals.map(({ signal, raised, severity, condition }) => ({
      signal,
      raised,
      severity,
      condition: sent(condition),
    })),
  };
}
