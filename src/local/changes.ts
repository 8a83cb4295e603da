import type { Effect } from "../engine/index.js";

/** Something that happened to a customer, in a few words, and when. */
export interface StateChange {
  /** In milliseconds since 1970 UTC. */
  at: number;
  text: string;
}

/** What effects mean to somebody who watches: each change once, whatever rows and emissions it makes. */
export function effectsInWords(effects: readonly Effect[]): StateChange[] {
  return effects.flatMap((effect) => {
    const text = inWords(effect);
    return text === null ? [] : [{ at: effect.at, text }];
  });
}

function inWords(effect: Effect): string | null {
  switch (effect.kind) {
    case "transition":
      return effect.from === null ? `created as ${effect.to}` : `${effect.from} → ${effect.to}`;
    case "blocked":
      return `${effect.from} → ${effect.to} blocked: it was in that state at this instant already, or time alone has moved it too often`;
    case "segmentEntered":
      return `segment ${effect.segment} entered`;
    case "segmentExited":
      return `segment ${effect.segment} left`;
    case "health":
      return effect.overall === null ? "health none" : `health ${effect.overall} (${effect.band})`;
    case "ruleExecuted":
      return `rule ${effect.rule} ${RULE_RESULTS[effect.result]}${effect.error === null ? "" : `: ${effect.error}`}`;
    case "signalRaised":
      return `signal ${effect.signal} raised (${effect.severity})`;
    case "signalCleared":
      return `signal ${effect.signal} cleared`;
    case "emission":
      return emissionInWords(effect);
    case "journey":
      return null; // its emission says what about it changed
  }
}

const RULE_RESULTS = { pass: "passed", fail: "not met", skip: "skipped: it passed before", error: "failed" } as const;

/** Of emissions only those that nothing else tells. */
function emissionInWords({ type, source, metadata }: Extract<Effect, { kind: "emission" }>): string | null {
  if (source === "rule") return `emitted ${type}`;
  if (source !== "journey") return null;
  const { journey: id, step } = metadata as { journey: string; step?: string };
  const journey = `journey ${id}`;
  if (step !== undefined) return `${journey}: ${step} done`;
  return `${journey} ${type.slice("journey.".length)}`;
}
