import type { StateDocument } from "../../../src/engine/index.js";

/** The state of customers at an instant and all their emissions, readable by people. */
export interface Expected {
  at: string;
  customers: Record<string, ExpectedCustomer>;
}

interface ExpectedCustomer {
  lifecycle: string;
  health: string | null;
  /** By component. */
  scores: Record<string, number>;
  journeys: Record<string, string>;
  segments: string[];
  signals: Record<string, string>;
  /** In order. */
  emissions: string[];
}

/** An emission as in the timeline. */
export interface Emission {
  at: string;
  type: string;
  source: string;
  metadata: object;
}

/** A customer in `expected.json`, without ids, which depend on the other data. */
export function expectedOf(document: StateDocument, emissions: readonly Emission[]): ExpectedCustomer {
  const { lifecycle, lifecycleEnteredAt, health, journeys, segments, signals } = document;
  return {
    lifecycle: `${lifecycle} since ${short(lifecycleEnteredAt)}`,
    health: health && `${health.overall} (${health.band})`,
    scores: health?.components ?? {},
    journeys: Object.fromEntries(journeys.map((run) => [run.journeyId, journeyOf(run)])),
    segments,
    signals: Object.fromEntries(
      signals.map(({ signalId, severity, raisedAt }) => [signalId, `${severity} since ${short(raisedAt)}`]),
    ),
    emissions: emissions.map((emission) => `${short(emission.at)} ${emission.type}${detailOf(emission)}`),
  };
}

function journeyOf({
  status,
  currentStep,
  startedAt,
  completedAt,
  expiredAt,
}: StateDocument["journeys"][number]): string {
  switch (status) {
    case "active":
      return `active since ${short(startedAt)}, at ${currentStep}`;
    case "complete":
      return `complete since ${short(completedAt)}`;
    case "expired":
      return `expired on ${short(expiredAt)}, at ${currentStep}`;
  }
}

/** The details of an emission that its type does not say. */
function detailOf({ source, metadata }: Emission): string {
  const details = metadata as Record<string, string | number | null>;
  switch (source) {
    case "lifecycle":
      return details["previous_lifecycle"] === null ? "" : ` from ${details["previous_lifecycle"]}`;
    case "journey":
      return ` ${details["journey"]}${details["step"] === undefined ? "" : ` ${details["step"]}`}`;
    case "health":
      return ` to ${details["new_band"]} (${details["overall"]})`;
    case "rule":
      return ` by ${details["rule"]}`;
    default:
      return ` ${details[source]}`;
  }
}

/** An instant without zero seconds. */
function short(instant: string | null): string {
  return instant === null ? "never" : instant.replace(/(:00)?\.000Z$/, "Z");
}
