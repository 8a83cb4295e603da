import { expect } from "vitest";
import { causeId, eventIdOf, type CustomerState, type Effect, type TrackedEvent } from "../../../src/engine/index.js";
import { loadedState, type StoredCustomer } from "../../../src/db/api/evaluation.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { replay } from "../../engine/support/whole-history.js";
import { modelOf } from "./engine.js";
import type { TestEnvironment } from "./environment.js";

/** A customer as it is stored. */
export async function storedOf(
  { sql, environmentId }: TestEnvironment,
  customerId: string,
): Promise<StoredCustomer & { generation: number }> {
  const [row] = await sql<[StoredCustomer & { generation: number }]>`
    select c.customer_id as "customerId", floor(extract(epoch from c.created_at) * 1000)::float8 as "createdAt", c.traits, c.state,
      c.generation
    from svc.customers as c where c.environment_id = ${environmentId} and c.customer_id = ${customerId}`;
  return row;
}

/** The evaluated events of a customer, in the engine's order: those not in the inbox. */
export async function evaluatedEvents(
  { sql, environmentId }: TestEnvironment,
  customerId: string,
): Promise<TrackedEvent[]> {
  const rows = await sql<Omit<TrackedEvent, "eventId">[]>`
    select e.event_seq::float8 as seq, e.event, e.properties, floor(extract(epoch from e.occurred_at) * 1000)::float8 as "occurredAt"
    from svc.events as e
    where e.environment_id = ${environmentId} and e.customer_id = ${customerId}
      and not exists (
        select from svc.inbox as i
        where i.environment_id = e.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
      )
    order by 4, 1`;
  return rows.map((row) => ({ ...row, eventId: eventIdOf(row.seq) }));
}

/** The replay of a stored customer to a pinned instant, with the events evaluated so far. */
export async function replayedTo(environment: TestEnvironment, model: Snapshot, pin: string, customer = "c1") {
  const before = loadedState(await storedOf(environment, customer));
  const through = Math.max(Date.parse(pin), before.evaluatedThrough ?? -Infinity);
  const events = await evaluatedEvents(environment, customer);
  return { before, ...replay(modelOf(model), { ...before, events, through }) };
}

/** Expects the stored customer and its logs to equal the result of a replay. */
export async function expectReplayed(
  environment: TestEnvironment,
  customer: string,
  { state, effects }: { state: CustomerState; effects: readonly Effect[] },
): Promise<void> {
  expect(loadedState(await storedOf(environment, customer))).toEqual(state);
  expect(await transitionsOf(environment, customer)).toEqual(transitionLines(effects));
  expect(await executionsOf(environment, customer)).toEqual(executionLines(effects));
}

/** The runs of `lines` that are not in `present`, each of which counts once: by rule, result, instant and trigger. */
export function added(present: readonly string[], lines: readonly string[]): string[] {
  const keyOf = (line: string) => line.split(" ").slice(0, -2).join(" ");
  const left = new Map<string, number>();
  for (const key of present.map(keyOf)) left.set(key, (left.get(key) ?? 0) + 1);
  return lines.map(keyOf).filter((key) => {
    const had = left.get(key) ?? 0;
    left.set(key, had - 1);
    return had <= 0;
  });
}

/** The customer's transitions of the current generation, in the format of `transitionLines`. */
export async function transitionsOf({ sql, environmentId }: TestEnvironment, customerId: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat(coalesce(t.from_state, '-'), '→', t.to_state, ' ', svc.iso(t.transitioned_at), ' ', t.cause_type, ' ', t.cause_id) as line
    from svc.lifecycle_transitions as t
    join svc.customers as c using (environment_id, customer_id, generation)
    where t.environment_id = ${environmentId} and t.customer_id = ${customerId}
    order by t.transition_seq`;
  return rows.map(({ line }) => line);
}

/** The runs of rules of the current generation, in the format of `executionLines`. */
export async function executionsOf({ sql, environmentId }: TestEnvironment, customerId: string): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat(x.rule_id, ' ', x.result, ' ', svc.iso(x.executed_at), ' ', x.triggered_by, ' ', x.cause_type, ' ', x.cause_id) as line
    from svc.rule_executions as x
    join svc.customers as c using (environment_id, customer_id, generation)
    where x.environment_id = ${environmentId} and x.customer_id = ${customerId}
    order by x.execution_seq`;
  return rows.map(({ line }) => line);
}

/** The transitions of a replay, each with its instant and its cause. */
export function transitionLines(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) =>
    effect.kind === "transition" ? [`${effect.from ?? "-"}→${effect.to} ${placeOf(effect)}`] : [],
  );
}

/** The runs of rules of a replay, each with its instant and its cause. */
export function executionLines(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) =>
    effect.kind === "ruleExecuted" ? [`${effect.rule} ${effect.result} ${placeOf(effect, effect.triggeredBy)}`] : [],
  );
}

function placeOf({ at, cause }: Extract<Effect, { cause: unknown }>, ...trigger: string[]): string {
  return [new Date(at).toISOString(), ...trigger, cause.kind, causeId(cause) ?? ""].join(" ");
}
