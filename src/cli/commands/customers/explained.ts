import type { Context } from "../../core/command.js";
import type { ExplanationDocument } from "./explanation.js";
import { isTransient } from "../../client/retry-transient.js";
import { printable } from "../../output/text.js";

/** What is said of the state that an explanation is about. */
export interface AboutState {
  customerId: string;
  asOf: string | null;
  configVersion: string | null;
  activeVersion: string | null;
  pending: number;
  unavailable: { code: string; message: string } | null;
  flipsKnown: boolean;
}

/** Why a customer stands where it does: each part of the model with the conditions that are consulted now. */
export interface ExplainedCustomer extends AboutState {
  lifecycle: { state: string | null; transitions: { to: string; condition: ExplanationDocument }[] } | null;
  journeys: ExplainedJourney[];
  segments: ExplainedSegment[];
  health: { overall: number | null; band: string | null; components: ExplainedComponent[] } | null;
  signals: { signal: string; raised: boolean; severity: string; condition: ExplanationDocument | null }[];
}

export interface ExplainedJourney {
  journey: string;
  status: string;
  /** Null where a run is under way, or the journey does not repeat. */
  start: ExplanationDocument | null;
  steps: { step: string; completed: boolean; condition: ExplanationDocument | null }[];
}

export interface ExplainedSegment {
  segment: string;
  member: boolean;
  condition: ExplanationDocument | null;
}

export interface ExplainedComponent {
  component: string;
  weight: number;
  score: number;
  measure: { text: string; actual: unknown };
}

/** Asks why a customer stands where it does. */
export function explanationOf({ api }: Context, customerId: string) {
  const members = ["lifecycle", "journeys", "segments", "health", "signals", "unavailable"] as const;
  return api.get<ExplainedCustomer>(["customers", customerId, "explanation"], members);
}

/** The same, or null where the service cannot tell for the moment, which is said beside the result. */
export async function explanationIfAny(context: Context, customerId: string): Promise<ExplainedCustomer | null> {
  try {
    return (await explanationOf(context, customerId)).data;
  } catch (error) {
    if (!isTransient(error)) throw error;
    context.out.note(`Why it is so cannot be told for the moment: ${printable((error as Error).message)}`);
    return null;
  }
}
