import type { CustomerColumns, EffectRows } from "../db/api/evaluation.js";
import { causeId, type CustomerState, type Effect, timersHeldUntil, journeyProgress } from "../engine/index.js";

/** The columns of svc.customers for a state. */
export function customerColumns(state: CustomerState): CustomerColumns {
  return {
    customerId: state.customerId,
    lifecycle: state.lifecycle?.state ?? null,
    lifecycleEnteredAt: state.lifecycle?.enteredAt ?? null,
    lastEventAt: state.lastEventAt,
    evaluatedThrough: state.evaluatedThrough,
    nextDueAt: state.nextDueAt,
    heldUntil: timersHeldUntil(state),
    health: state.health,
  };
}

export type Row<Table extends keyof EffectRows> = EffectRows[Table][number];

/** Rows of one customer of which a table keeps only the latest, by key: a later change replaces an earlier one. */
export class LatestRows {
  readonly blocked = new Map<string, Row<"blocked">>();
  readonly journeys = new Map<string, Row<"journeys">>();
  readonly memberships = new Map<string, Row<"memberships">>();
  readonly signals = new Map<string, Row<"signals">>();
}

/** Adds the rows that the effects of one evaluation of a customer result in; those of the logs have the customer's generation. */
export function addEffects(
  rows: EffectRows,
  customer: { customerId: string; generation: number },
  effects: readonly Effect[],
): void {
  if (effects.length === 0) return;
  const latest = new LatestRows();
  addEffectRows(rows, latest, customer, effects);
  rows.blocked.push(...latest.blocked.values());
  rows.journeys.push(...latest.journeys.values());
  rows.memberships.push(...latest.memberships.values());
  rows.signals.push(...latest.signals.values());
}

/**
 * As `addEffects`, for one part of an evaluation: rows that later parts may replace are gathered in `latest`; emissions are optional. Members
 * are listed one by one, because spreading the common ones took a tenth of an evaluation's time.
 */
export function addEffectRows(
  rows: Omit<EffectRows, keyof LatestRows | "emissions"> & { emissions: EffectRows["emissions"] | null },
  { blocked, journeys, memberships, signals }: LatestRows,
  { customerId, generation }: { customerId: string; generation: number },
  effects: readonly Effect[],
): void {
  for (const effect of effects) {
    const { at } = effect;
    const causeType = effect.cause.kind;
    switch (effect.kind) {
      case "transition": {
        const { from, to, cause } = effect;
        rows.transitions.push({ customerId, generation, from, to, at, causeType, causeId: causeId(cause) });
        break;
      }
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
        const score = { customerId, generation, at, overall, components, band, causeType, causeId: causeId(cause) };
        rows.healthScores.push(score);
        break;
      }
      case "ruleExecuted": {
        const { rule, result, triggeredBy, conditions, action, error, cause } = effect;
        const run = { customerId, generation, at, rule, result, triggeredBy, conditions, action, error };
        rows.ruleExecutions.push({ ...run, causeType, causeId: causeId(cause) });
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
        if (rows.emissions === null) break;
        const { type, source, metadata, byRule, cause } = effect;
        if (byRule) rows.ruleExecutions.at(-1)!.emission = rows.emissions.length;
        rows.emissions.push({ customerId, type, source, metadata, at, causeType, causeId: causeId(cause) });
        break;
      }
    }
  }
}

function journeyRow(customerId: string, { journey, run }: Extract<Effect, { kind: "journey" }>): Row<"journeys"> {
  const { status, currentStep, startedAt, completedAt, expiredAt } = run;
  const { stepsData: steps } = journeyProgress(journey, run);
  return { customerId, journey, run: run.run, status, currentStep, steps, startedAt, completedAt, expiredAt };
}
