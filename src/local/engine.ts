import {
  compileModel,
  eventIdOf,
  explain,
  stateDocument,
  type Json,
  type Model,
  type Operation,
  type StateDocument,
} from "../engine/index.js";
import { canonicalJson } from "../model/snapshot/canonical.js";
import type { Snapshot } from "../model/snapshot/types.js";
import type { CustomerState } from "../http/admin/answers.js";
import type { ErrorDiagnostic } from "../http/errors.js";
import type { IdentifyRequest, TrackRequest } from "../ingestion/shape.js";
import { parseTimestamp } from "../ingestion/timestamp.js";
import type { Clock } from "./clock.js";
import { Population, type AcceptedBatch, type CustomerChange, type PopulationOptions } from "./population.js";
import {
  conflictError,
  diagnosticOf,
  type QuarantinedOperation,
  quarantinedOperations,
  type RequestForm,
  schemaViolations,
  violationError,
} from "./refusals.js";

export type RequestOperation = TrackRequest | IdentifyRequest;

/** A validated snapshot and its hash. */
export interface LocalModel {
  snapshot: Snapshot;
  hash: string;
}

export interface LocalEngineOptions extends PopulationOptions {
  clock: Clock;
  /** Shown in state documents. */
  environment: CustomerState["environment"];
}

/** What became of a request that was accepted. */
export interface Accepted {
  /** By position; for an identify the id is null. */
  outcomes: { eventId: string | null; duplicate: boolean }[];
  /** Of the customers that were named, in that order, with what happened to each: nothing, where all operations were duplicates. After
   * them those to whom something was due. */
  changes: CustomerChange[];
  /** Violations of a schema that is not strict. */
  diagnostics: ErrorDiagnostic[];
  /** What violates a strict schema that does not refuse it: told, and not evaluated. Nothing keeps it here. */
  quarantined: QuarantinedOperation[];
}

/** Positions in a request take ten bits of an operation's number, as in the service. */
const POSITIONS = 1024;

/**
 * The service in memory: accepts operations by the same rules, evaluates them at once with the same engine, and forgets them with the
 * process. Requests are accepted one after the other, each as a whole or not at all.
 */
export class LocalEngine {
  readonly #options: LocalEngineOptions;
  #snapshot: Snapshot;
  #model: Model;
  #population: Population;
  #keys = new IdempotencyKeys();
  #batches: AcceptedBatch[] = [];
  #requests = 0;

  constructor({ snapshot, hash }: LocalModel, options: LocalEngineOptions) {
    this.#options = options;
    this.#snapshot = snapshot;
    this.#model = compileModel(snapshot, hash);
    this.#population = new Population(this.#model, options);
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Of the model. */
  get hash(): string {
    return this.#model.hash;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get environment(): CustomerState["environment"] {
    return this.#options.environment;
  }

  /** The customers under the present model. */
  get population(): Population {
    return this.#population;
  }

  /**
   * Accepts operations of the right shape at the present instant, all or none.
   *
   * @param ofCalls of the tracking API: what violates a strict schema is told of, whatever the model says, and a key that was used before
   *   says that the call was taken then
   * @throws {ApiError} 422 where a strict schema is violated, 409 for a key
   */
  accept(operations: readonly RequestOperation[], form: RequestForm, { ofCalls = false } = {}): Accepted {
    const acceptedAt = this.clock.now();
    const firstSeq = ++this.#requests * POSITIONS;
    const { strictSchema, onViolation } = this.#snapshot;
    const isHeld = strictSchema && (ofCalls || onViolation === "quarantine");
    const quarantined = isHeld ? quarantinedOperations(this.#snapshot, operations) : [];
    const violations = isHeld ? [] : schemaViolations(this.#snapshot, operations, form);
    if (this.#snapshot.strictSchema && violations.length > 0) throw violationError(violations);

    const numbered = operations.map(
      (operation, position) =>
        [operation.type === "identify" ? null : operation, eventIdOf(firstSeq + position)] as const,
    );
    const keys = this.#keys.look(numbered);
    if (keys.conflicts.length > 0 && !ofCalls) throw conflictError(operations, keys.conflicts, form);

    const batch: AcceptedBatch = { acceptedAt, operations: [] };
    const held = new Set(quarantined.map(({ index }) => index));
    operations.forEach((operation, position) => {
      if (keys.originals[position] === undefined && !held.has(position))
        batch.operations.push(accepted(operation, firstSeq + position, acceptedAt));
    });
    const changes = this.#population.apply(batch);
    if (batch.operations.length > 0) this.#batches.push(batch);
    keys.commit();
    return {
      outcomes: numbered.map(([track, id], position) => {
        const original = keys.originals[position];
        return { eventId: track && (original ?? id), duplicate: original !== undefined };
      }),
      changes: withUnchanged(changes, operations),
      diagnostics: violations.map(diagnosticOf),
      quarantined,
    };
  }

  advance(): CustomerChange[] {
    return this.#population.advance(this.clock.now());
  }

  /** The customers as they stood at an instant that has passed, under the present model: what was accepted until then is evaluated again. */
  populationAt(instant: number): Population {
    const population = new Population(this.#model, this.#options);
    for (const batch of this.#batches) if (batch.acceptedAt <= instant) population.apply(batch);
    population.advance(instant);
    return population;
  }

  /** What was accepted until an instant, in its order. */
  operations(until: number): AcceptedBatch["operations"] {
    return this.#batches.flatMap(({ acceptedAt, operations }) => (acceptedAt <= until ? operations : []));
  }

  /** What of that is of a customer. */
  operationsOf(customerId: string, until: number): readonly Operation[] {
    return this.operations(until).flatMap((each) => (each.customerId === customerId ? [each.operation] : []));
  }

  /** When the first batch was accepted; null before there was one. */
  get firstAcceptedAt(): number | null {
    return this.#batches[0]?.acceptedAt ?? null;
  }

  /** The state document of a customer, with the members that it has everywhere; undefined where there is no such customer. */
  document(customerId: string, population = this.#population): StateDocument | undefined {
    const customer = population.customer(customerId);
    return customer && stateDocument(customer.state, this.#options);
  }

  /** Why a customer is where it is: the explanation of every condition that is consulted in its present state. */
  explanation(customerId: string, population = this.#population, now = this.clock.now()) {
    const customer = population.customer(customerId);
    if (customer === undefined) return undefined;
    const at = customer.ahead.length === 0 ? now : undefined;
    return explain(this.#model, customer.state, { history: customer.history, at });
  }

  /** How many customers are in each lifecycle state; those in none are under "none". */
  lifecycleCounts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const id of this.#population.customerIds) {
      const state = this.#population.customer(id)!.state.lifecycle?.state ?? "none";
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  /** Takes another model: what was accepted is evaluated again under it, each operation at the instant of its acceptance. Where that
   * fails, the former model stays. */
  replaceModel({ snapshot, hash }: LocalModel): void {
    const model = compileModel(snapshot, hash);
    const population = new Population(model, this.#options);
    for (const batch of this.#batches) population.apply(batch);
    population.advance(this.clock.now());
    this.#snapshot = snapshot;
    this.#model = model;
    this.#population = population;
  }

  reset(): void {
    this.#population = new Population(this.#model, this.#options);
    this.#keys = new IdempotencyKeys();
    this.#batches = [];
    this.#requests = 0;
  }
}

interface KeyEntry {
  payload: string;
  eventId: string;
}

/** Idempotency keys and the payloads that they stand for: customer, event, properties and the explicit timestamp as an instant. */
export class IdempotencyKeys {
  readonly #entries = new Map<string, KeyEntry>();

  /**
   * Looks up the keys of a request, whose operations come with the event ids that they get if they are new; `commit` remembers them. By position: the event
   * that was accepted under the key before; and the positions of the keys that stand for another payload.
   */
  look(operations: readonly (readonly [operation: TrackRequest | null, eventId: string])[]) {
    const added = new Map<string, KeyEntry>();
    const conflicts: number[] = [];
    const originals = operations.map(([operation, eventId], position) => {
      const key = operation?.idempotencyKey;
      if (operation === null || key === undefined) return undefined;
      const { customerId, event, properties = {}, timestamp } = operation;
      const at = timestamp === undefined ? null : parseTimestamp(timestamp);
      const payload = canonicalJson([customerId, event, properties, at && [at.milliseconds, at.microseconds]]);
      const known = this.#entries.get(key) ?? added.get(key);
      if (known === undefined) added.set(key, { payload, eventId });
      else if (known.payload !== payload) conflicts.push(position);
      return known?.eventId;
    });
    return {
      originals,
      conflicts,
      commit: () => {
        for (const [key, entry] of added) this.#entries.set(key, entry);
      },
    };
  }
}

/** What JSON.parse returned is JSON; the shape check knows it as unknown members. */
type Properties = Record<string, Json>;

/** An operation as the engine takes it. @param acceptedAt also when an event occurred that does not say so */
export function accepted(
  operation: RequestOperation,
  seq: number,
  acceptedAt: number,
): AcceptedBatch["operations"][number] {
  const { customerId } = operation;
  if (operation.type === "identify") {
    return { customerId, operation: { kind: "identify", seq, traits: operation.traits as Properties, acceptedAt } };
  }
  const { event, properties = {}, timestamp } = operation;
  const occurredAt = timestamp === undefined ? acceptedAt : parseTimestamp(timestamp).milliseconds;
  const named = { kind: "track", seq, eventId: eventIdOf(seq), event, properties: properties as Properties } as const;
  return { customerId, operation: { ...named, occurredAt, acceptedAt } };
}

function withUnchanged(changes: CustomerChange[], operations: readonly RequestOperation[]): CustomerChange[] {
  const byId = new Map<string, CustomerChange>();
  for (const { customerId } of operations) byId.set(customerId, { customerId, effects: [], entries: [] });
  for (const change of changes) byId.set(change.customerId, change);
  return [...byId.values()];
}
