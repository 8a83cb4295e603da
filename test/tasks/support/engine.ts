import { compileModel, stateDocument, type Model, type Operation } from "../../../src/engine/index.js";
import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../../src/model/validate/validate.js";
import { snapshot } from "../../engine/support/arbitrary.js";
import { Run } from "../../engine/support/runner.js";
import { declared, type EmissionRow, type LogRow, type TestOperation } from "./environment.js";

/** Models that can be deployed; the engine accepts more. */
export const deployable = snapshot.filter((one) => parseSnapshot(declared(one)).ok);

export const iso = (instant: number): string => new Date(instant).toISOString();

/** The model that a `TestEnvironment` of this snapshot evaluates. */
export function modelOf(given: Snapshot): Model {
  const deployed = declared(given);
  return compileModel(deployed, hashSnapshot(deployed));
}

/** A customer of the local engine, as in a `TestEnvironment`, with its whole history loaded. */
export function newRun(model: Model, customerId: string, createdAt: string): Run {
  return new Run(model, "whole", { customerId, createdAt: Date.parse(createdAt) });
}

/** One customer's operations in the engine's form, with the numbers assigned by ingestion. */
export function engineOperations(operations: readonly TestOperation[], seqs: readonly number[]): Operation[] {
  return operations.map(({ at, event, occurred = at, properties = {}, traits = {} }, i): Operation => {
    const seq = seqs[i]!;
    const acceptedAt = Date.parse(at);
    if (event === undefined) return { kind: "identify", seq, traits: traits as never, acceptedAt };
    const eventId = `evt_${seq.toString(16).padStart(16, "0")}`;
    const occurredAt = Date.parse(occurred);
    return { kind: "track", seq, eventId, event, properties: properties as never, occurredAt, acceptedAt };
  });
}

/** An operation of the engine in the form that tests send. */
export function testOperation(operation: Operation): TestOperation {
  const at = iso(operation.acceptedAt);
  if (operation.kind === "identify") return { at, traits: operation.traits };
  const { event, properties, occurredAt } = operation;
  return { at, event, properties, occurred: iso(occurredAt) };
}

/** The engine's state document under version v1 as text; traits by name, since the database keeps no order. */
export function documentOf(run: Run): string {
  const document = stateDocument(run.state, { environment: "test", configVersion: "v1" });
  const traits = Object.fromEntries(Object.entries(document.traits).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({ ...document, traits });
}

/** The engine's emissions, in the form of `TestEnvironment.emissions`. */
export function emissionsOf(run: Run): EmissionRow[] {
  return run.effects.flatMap((effect) => {
    if (effect.kind !== "emission") return [];
    const { type, source, metadata, at, cause } = effect;
    const causeId = cause.kind === "event" ? cause.eventId : null;
    return [{ type, source, metadata, at: iso(at), cause: cause.kind, causeId, version: 1 }];
  });
}

/** The engine's log of scores and rules, in the form of `TestEnvironment.log`. */
export function logOf(run: Run): LogRow[] {
  const scores: LogRow[] = [];
  const rules: LogRow[] = [];
  for (const effect of run.effects) {
    const { cause } = effect;
    const causeId = cause.kind === "event" ? cause.eventId : null;
    const row = { at: iso(effect.at), cause: cause.kind, causeId };
    if (effect.kind === "health") {
      const { overall, components, band } = effect;
      scores.push({ ...row, text: JSON.stringify({ overall, components, band }) });
    } else if (effect.kind === "ruleExecuted") {
      const { rule, result, triggeredBy, conditions, action, error } = effect;
      rules.push({ ...row, text: JSON.stringify({ rule, result, triggeredBy, conditions, action, error }) });
    }
  }
  return [...scores, ...rules];
}
