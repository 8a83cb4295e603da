import type { BacktestReport, Estimate } from "./report-types.js";
import type { Outcome } from "./samples.js";
import { CUSTOMERS_MIN } from "./statistics.js";
import type { ModelFacts } from "./tally.js";

/** With fewer customers, that their samples are alike is worth a note. */
const FEW_CUSTOMERS = 50;

/** What a reader has to know before believing the figures, in sentences. */
export function notesOf(
  { kind }: Outcome,
  models: readonly ModelFacts[],
  inTerminal: number,
  found: Omit<BacktestReport, "notes">,
): string[] {
  const notes = [...notesOfSamples(found), ...notesOfInstants(found)];
  if (kind !== "event") {
    notes.push(
      `The outcome is decided by the model itself (${found.models[0]!.name}), so parts of a model that read the same events foresee it by definition.`,
    );
  }
  if (kind === "event" && inTerminal > 0) {
    const { terminal } = models[0]!;
    const where = terminal.length === 1 ? `the terminal state ${terminal[0]!}` : "a terminal state";
    const ask = terminal.map((state) => `state:${state}`).join(" or ");
    notes.push(
      `${inTerminal} samples are of customers in ${where}, for whom all may be over: they count as samples without the outcome. ${ask} leaves them out.`,
    );
  }
  if (models.some(({ readsTraits }) => readsTraits)) {
    notes.push(
      "Traits are read. Unless the present ones were asked for, they count from when they were accepted: of an imported history they may be missing at most instants.",
    );
  }
  for (const { name, health } of found.models) {
    if (health === null) notes.push(`${name} has no health score, so there is none to judge.`);
    else if (health.auc !== null && holds(health.auc, 0.5)) {
      notes.push(
        `The health score of ${name} is not to be told from chance: the interval of its AUC (${boundsText(health.auc)}) holds 0.5. ` +
          "So it is not known either whether low or high scores go with the outcome.",
      );
    }
  }
  if (found.difference !== null && holds(found.difference, 0)) {
    notes.push(
      `Which of the two health scores foresees the outcome better is not known: the interval of the difference (${boundsText(found.difference)}) holds 0.`,
    );
  }
  return notes;
}

function notesOfSamples({ customers, samples }: Omit<BacktestReport, "notes">): string[] {
  if (samples.used === 0) return ["There is no sample, so there are no figures."];
  const { withOutcome } = customers;
  if (withOutcome === 0) return ["The outcome came after no sample, so nothing can be said of what foresees it."];
  const notes: string[] = [];
  if (withOutcome < CUSTOMERS_MIN) {
    const only = withOutcome === 1 ? "Only one customer" : `Only ${withOutcome} customers`;
    notes.push(
      `${only} had the outcome. A figure of fewer than ${CUSTOMERS_MIN} customers with it, or fewer than ${CUSTOMERS_MIN} without it, ` +
        "has no interval, because it may well be chance.",
    );
  }
  if (withOutcome < FEW_CUSTOMERS && samples.withOutcome > withOutcome) {
    notes.push(
      `The ${samples.withOutcome} samples with the outcome are of ${withOutcome === 1 ? "one customer" : `${withOutcome} customers`}. ` +
        "Samples of one customer are alike, so they tell less than as many customers would; the intervals allow for it.",
    );
  }
  return notes;
}

function notesOfInstants({ instants, samples, within }: Omit<BacktestReport, "notes">): string[] {
  const { used, empty, censored } = instants;
  if (censored === 0) return [];
  return [
    `Of ${used + empty + censored} instants, the last ${censored === 1 ? "one is" : `${censored} are`} left out, with ${samples.censored} samples: ` +
      `less than ${within} after them is known, so whether the outcome came in time is not.`,
  ];
}

function holds({ low, high }: Estimate, value: number): boolean {
  return low !== null && high !== null && low <= value && value <= high;
}

function boundsText({ low, high }: Estimate): string {
  return `${low!.toFixed(2)} to ${high!.toFixed(2)}`;
}
