import type { StateDocument } from "../../../src/engine/index.js";

/** Where customers stand at an instant, and all that was told of them on the way, for people to read. */
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

/** An emission, as the timeline has it. */
export interface Emission {
  at: string;
  type: string;
  source: string;
  metadata: object;
}

/** What `expected.json` says of a customer: without ids, which depend on what else was sent. */
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

/** What an emission's type does not say yet. */
function detailOf({ source, metadata }: Emission): string {
  const said = metadata as Record<string, string | number | null>;
  switch (source) {
    case "lifecycle":
      return said["previous_lifecycle"] === null ? "" : ` from ${said["previous_lifecycle"]}`;
    case "journey":
      return ` ${said["journey"]}${said["step"] === undefined ? "" : ` ${said["step"]}`}`;
    case "health":
      return ` to ${said["new_band"]} (${said["overall"]})`;
    case "rule":
      return ` by ${said["rule"]}`;
    default:
      return ` ${said[source]}`;
  }
}

/** An instant without the seconds that it does not have. */
function short(instant: string | null): string {
  return instant === null ? "never" : instant.replace(/(:00)?\.000Z$/, "Z");
}
