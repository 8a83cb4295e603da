import type { BacktestReport, Estimate } from "./report-types.js";
import type { Outcome } from "./samples.js";
import { CUSTOMERS_MIN } from "./statistics.js";
import type { ModelFacts } from "./tally.js";

/** With fewer customers than this, a note says that samples of one customer are alike. */
const FEW_CUSTOMERS = 50;

/** The caveats about the figures, as sentences. */
export function notesOf(
  { kind }: Outcome,
  models: readonly ModelFacts[],
  inTerminal: number,
  figures: Omit<BacktestReport, "notes">,
): string[] {
  const notes = [...notesOfSamples(figures), ...notesOfInstants(figures)];
  if (kind !== "event") {
    notes.push(
      `The outcome is decided by the model itself (${figures.models[0]!.name}), so parts of a model that read the same events predict it by definition.`,
    );
  }
  if (kind === "event" && inTerminal > 0) {
    const { terminal } = models[0]!;
    const where = terminal.length === 1 ? `the terminal state ${terminal[0]!}` : "a terminal state";
    const ask = terminal.map((state) => `state:${state}`).join(" or ");
    notes.push(
      `${inTerminal} samples are of customers in ${where}, who may have left for good: they count as samples without the outcome. The outcome ${ask} leaves them out.`,
    );
  }
  if (models.some(({ readsTraits }) => readsTraits)) {
    notes.push(
      "Traits are read. Unless the present ones are used, each counts from when it was accepted, so in an imported history they may be missing at most instants.",
    );
  }
  for (const { name, health } of figures.models) {
    if (health === null) notes.push(`${name} has no health score, so there is none to judge.`);
    else if (health.auc !== null && holds(health.auc, 0.5)) {
      notes.push(
        `The health score of ${name} cannot be told apart from chance: the interval of its AUC (${boundsText(health.auc)}) contains 0.5. ` +
          "So it is also unknown whether low or high scores go with the outcome.",
      );
    }
  }
  if (figures.difference !== null && holds(figures.difference, 0)) {
    notes.push(
      `It is not known which of the two health scores predicts the outcome better: the interval of the difference (${boundsText(figures.difference)}) contains 0.`,
    );
  }
  return notes;
}

function notesOfSamples({ customers, samples }: Omit<BacktestReport, "notes">): string[] {
  if (samples.used === 0) return ["There is no sample, so there are no figures."];
  const { withOutcome } = customers;
  if (withOutcome === 0) return ["The outcome came after no sample, so nothing can be said about what predicts it."];
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
        "Samples of one customer are alike, so they say less than as many customers would; the intervals allow for it.",
    );
  }
  return notes;
}

function notesOfInstants({ instants, samples, within }: Omit<BacktestReport, "notes">): string[] {
  const { used, empty, censored } = instants;
  if (censored === 0) return [];
  return [
    `Of ${used + empty + censored} instants, the last ${censored === 1 ? "one is" : `${censored} are`} left out, with ${samples.censored.toLocaleString("en")} samples: ` +
      `less than ${within} after them is known, so it is unknown whether the outcome came in time.`,
  ];
}

function holds({ low, high }: Estimate, value: number): boolean {
  return low !== null && high !== null && low <= value && value <= high;
}

function boundsText({ low, high }: Estimate): string {
  return `${low!.toFixed(2)} to ${high!.toFixed(2)}`;
}
