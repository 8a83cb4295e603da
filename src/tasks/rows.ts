import type { CauseColumns, CustomerColumns, EffectRows } from "../db/api/evaluation.js";
import { type Cause, causeId, type CustomerState, type Effect, heldUntil, journeyProgress } from "../engine/index.js";

/** A state as the columns of svc.customers keep it. */
export function customerColumns(state: CustomerState): CustomerColumns {
  // Traits have a column of their own, merged by the database from what was accepted.
  const { traits: _, ...kept } = state;
  return {
    customerId: state.customerId,
    lifecycle: state.lifecycle?.state ?? null,
    lifecycleEnteredAt: state.lifecycle?.enteredAt ?? null,
    lastEventAt: state.lastEventAt,
    evaluatedThrough: state.evaluatedThrough,
    nextDueAt: state.nextDueAt,
    heldUntil: heldUntil(state),
    health: state.health,
    state: kept,
  };
}

type Row<Table extends keyof EffectRows> = EffectRows[Table][number];

export function noEffectRows(): EffectRows {
  return {
    transitions: [],
    blocked: [],
    journeys: [],
    memberships: [],
    healthScores: [],
    ruleExecutions: [],
    signals: [],
    emissions: [],
  };
}

/** Adds what the effects of one evaluation of a customer come down to; to the logs with the customer's generation. */
export function addEffects(
  rows: EffectRows,
  { customerId, generation }: { customerId: string; generation: number },
  effects: readonly Effect[],
): void {
  if (effects.length === 0) return;
  const inLog = generation === 0 ? { customerId } : { customerId, generation };
  // Of these a table holds the last only, so several changes of one come down to that.
  const blocked = new Map<string, Row<"blocked">>();
  const journeys = new Map<string, Row<"journeys">>();
  const memberships = new Map<string, Row<"memberships">>();
  const signals = new Map<string, Row<"signals">>();
  for (const effect of effects) {
    const { at } = effect;
    switch (effect.kind) {
      case "transition":
        rows.transitions.push({ ...inLog, from: effect.from, to: effect.to, at, ...causeColumns(effect.cause) });
        break;
      case "blocked":
        blocked.set(`${effect.from}→${effect.to}`, { customerId, from: effect.from, to: effect.to, at });
        break;
      case "journey":
        journeys.set(`${effect.journey} ${effect.run.run}`, journeyRow(customerId, effect));
        break;
      case "segmentEntered":
        memberships.set(effect.segment, { customerId, segment: effect.segment, enteredAt: at, exitedAt: null });
        break;
      case "segmentExited": {
        const { segment, enteredAt } = effect;
        memberships.set(segment, { customerId, segment, enteredAt, exitedAt: at });
        break;
      }
      case "health": {
        const { overall, components, band, cause } = effect;
        rows.healthScores.push({ ...inLog, at, overall, components, band, ...causeColumns(cause) });
        break;
      }
      case "ruleExecuted": {
        const { rule, result, triggeredBy, conditions, action, error, cause } = effect;
        const outcome = { rule, result, triggeredBy, conditions, action, error };
        rows.ruleExecutions.push({ ...inLog, at, ...outcome, ...causeColumns(cause) });
        break;
      }
      case "signalRaised": {
        const { signal, severity, message } = effect;
        signals.set(signal, { customerId, signal, severity, message, raisedAt: at, clearedAt: null });
        break;
      }
      case "signalCleared": {
        const { signal, severity, message, raisedAt } = effect;
        signals.set(signal, { customerId, signal, severity, message, raisedAt, clearedAt: at });
        break;
      }
      case "emission": {
        const { type, source, metadata, cause } = effect;
        rows.emissions.push({ customerId, type, source, metadata, at, ...causeColumns(cause) });
        break;
      }
    }
  }
  rows.blocked.push(...blocked.values());
  rows.journeys.push(...journeys.values());
  rows.memberships.push(...memberships.values());
  rows.signals.push(...signals.values());
}

function journeyRow(customerId: string, { journey, run }: Extract<Effect, { kind: "journey" }>): Row<"journeys"> {
  const { status, currentStep, startedAt, completedAt, expiredAt } = run;
  const { stepsData: steps } = journeyProgress(journey, run);
  return { customerId, journey, run: run.run, status, currentStep, steps, startedAt, completedAt, expiredAt };
}

function causeColumns(cause: Cause): CauseColumns {
  return { causeType: cause.kind, causeId: causeId(cause) };
}
