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

/** The result of a request that was accepted. */
export interface Accepted {
  /** By position; the id of an identify is null. */
  outcomes: { eventId: string | null; duplicate: boolean }[];
  /** The changes of the customers in the request, in its order; empty for a customer whose operations were all duplicates. After them,
   * those of other customers for whom something was due. */
  changes: CustomerChange[];
  /** Violations of a schema that is not strict. */
  diagnostics: ErrorDiagnostic[];
  /** Violations of a strict schema that puts them in quarantine: reported, but neither evaluated nor kept here. */
  quarantined: QuarantinedOperation[];
}

/** The position in a request is the last ten bits of an operation's sequence number, as in the service. */
const POSITIONS = 1024;

/**
 * The service in memory: accepts operations by the same rules, evaluates them at once with the same engine, and keeps them until the process
 * ends. Requests are accepted one after the other, each as a whole or not at all.
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

  /** The hash of the model. */
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
   * @param ofCalls for calls of the tracking API: violations of a strict schema are always reported and never refused, and a key that was used
   *   before means that the call was accepted then, also with another payload
   * @throws {ApiError} 422 for a violation of a strict schema, 409 for a key that was used with another payload
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
    const keys = this.#keys.lookUp(numbered);
    if (keys.conflicts.length > 0 && !ofCalls) throw conflictError(operations, keys.conflicts, form);

    const batch: AcceptedBatch = { acceptedAt, operations: [] };
    const held = new Set(quarantined.map(({ index }) => index));
    operations.forEach((operation, position) => {
      if (keys.originals[position] === undefined && !held.has(position))
        batch.operations.push(engineOperation(operation, firstSeq + position, acceptedAt));
    });
    const changes = this.#population.apply(batch);
    if (batch.operations.length > 0) this.#batches.push(batch);
    // What is held is not kept, as if it were discarded at once: its key is free to be sent again under a corrected model.
    keys.commit(held);
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

  /** Evaluates what is due by now. */
  advance(): CustomerChange[] {
    return this.#population.advance(this.clock.now());
  }

  /** The customers at a past instant, under the present model: evaluates again what was accepted until then. */
  populationAt(instant: number): Population {
    const population = new Population(this.#model, this.#options);
    for (const batch of this.#batches) if (batch.acceptedAt <= instant) population.apply(batch);
    population.advance(instant);
    return population;
  }

  /** The operations that were accepted until an instant, in their order. */
  operations(until: number): AcceptedBatch["operations"] {
    return this.#batches.flatMap(({ acceptedAt, operations }) => (acceptedAt <= until ? operations : []));
  }

  /** The operations of a customer that were accepted until an instant. */
  operationsOf(customerId: string, until: number): readonly Operation[] {
    return this.operations(until).flatMap((each) => (each.customerId === customerId ? [each.operation] : []));
  }

  /** When the first batch was accepted; null before that. */
  get firstAcceptedAt(): number | null {
    return this.#batches[0]?.acceptedAt ?? null;
  }

  /** The state document of a customer, in the same form as the service's; undefined if there is no such customer. */
  document(customerId: string, population = this.#population): StateDocument | undefined {
    const customer = population.customer(customerId);
    return customer && stateDocument(customer.state, this.#options);
  }

  /** The explanation of a customer's state: every condition that is evaluated in it. */
  explanation(customerId: string, population = this.#population, now = this.clock.now()) {
    const customer = population.customer(customerId);
    if (customer === undefined) return undefined;
    const at = customer.ahead.length === 0 ? now : undefined;
    return explain(this.#model, customer.state, { history: customer.history, at });
  }

  /** The number of customers in each lifecycle state; those in no state are counted under "none". */
  lifecycleCounts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const id of this.#population.customerIds) {
      const state = this.#population.customer(id)!.state.lifecycle?.state ?? "none";
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  /** Replaces the model, and evaluates all accepted operations again under it, each at the instant of its acceptance. If that fails, the
   * former model stays. */
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
   * Looks up the keys of a request, whose operations come with the event ids that they get if they are new. Returns `originals`: by position, the id of the
   * event that was accepted under the same key before; `conflicts`: the positions of keys that stand for another payload; and `commit`,
   * which stores the keys, except those of the given positions.
   */
  lookUp(operations: readonly (readonly [operation: TrackRequest | null, eventId: string])[]) {
    const added = new Map<string, KeyEntry & { position: number }>();
    const conflicts: number[] = [];
    const originals = operations.map(([operation, eventId], position) => {
      const key = operation?.idempotencyKey;
      if (operation === null || key === undefined) return undefined;
      const { customerId, event, properties = {}, timestamp } = operation;
      const at = timestamp === undefined ? null : parseTimestamp(timestamp);
      const payload = canonicalJson([customerId, event, properties, at && [at.milliseconds, at.microseconds]]);
      const known = this.#entries.get(key) ?? added.get(key);
      if (known === undefined) added.set(key, { payload, eventId, position });
      else if (known.payload !== payload) conflicts.push(position);
      return known?.eventId;
    });
    return {
      originals,
      conflicts,
      commit: (held?: ReadonlySet<number>) => {
        for (const [key, { position, ...entry }] of added) if (!held?.has(position)) this.#entries.set(key, entry);
      },
    };
  }
}

/** The shape check types the members of a parsed object as unknown, but they come from JSON.parse. */
type Properties = Record<string, Json>;

/** Converts a request's operation to the engine's form. @param acceptedAt also the instant of an event without a timestamp */
export function engineOperation(
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

/** Adds empty changes for customers of the request without one. */
function withUnchanged(changes: CustomerChange[], operations: readonly RequestOperation[]): CustomerChange[] {
  const byId = new Map<string, CustomerChange>();
  for (const { customerId } of operations) byId.set(customerId, { customerId, effects: [], entries: [] });
  for (const change of changes) byId.set(change.customerId, change);
  return [...byId.values()];
}
