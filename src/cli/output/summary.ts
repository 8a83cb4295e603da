import { bytesInWords } from "../../model/snapshot/limits.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import type { Environment } from "../core/settings.js";
import type { Out } from "./out.js";
import { plural } from "./text.js";

/** What a model consists of, in one line. */
export function summary({ events, traits, lifecycle, journeys, segments, health, rules, signals }: Snapshot): string {
  const parts: [count: number, what: string][] = [
    [Object.keys(events).length, "event"],
    [Object.keys(traits).length, "trait"],
    [lifecycle?.states.length ?? 0, "lifecycle state"],
    [journeys.length, "journey"],
    [segments.length, "segment"],
    [health?.components.length ?? 0, "health component"],
    [rules.length, "rule"],
    [signals.length, "signal"],
  ];
  const present = parts.filter(([count]) => count > 0);
  return present.length === 0 ? "an empty model" : present.map(([count, what]) => plural(count, what)).join(", ");
}

/** How large the state of one customer can become, as a sentence. */
export function stateSize(bytes: number): string {
  return `State of one customer: at most ${bytesInWords(bytes)}.`;
}

/** What is said once another model is active in an environment that has customers. */
export function customersKeepTheirState(out: Out, environment: Environment): string {
  const recompute = out.typed(`svc recompute --all --env ${environment}`);
  return [
    "Customers keep the state that they have until something happens to them, or they are recomputed:",
    `  ${recompute} --dry-run   what that would change`,
    `  ${recompute}             do it`,
  ].join("\n");
}
