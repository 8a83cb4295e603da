import type {
  CauseColumns,
  CustomerInput,
  EvaluationInput,
  EvaluationResult,
  OperationRow,
} from "../db/calls-evaluation.js";
import {
  evaluate,
  isBackfilling,
  newCustomer,
  type Cause,
  type CustomerState,
  type Effect,
  type Model,
  type Operation,
  type TrackOperation,
} from "../engine/index.js";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Runs the engine for the customers of a chunk and collects what is to be written back, table by table. */
export class EvaluationBuilder {
  readonly #model: Model;
  readonly #input: EvaluationInput;
  readonly #result: EvaluationResult = {
    customers: [],
    identifies: [],
    transitions: [],
    memberships: [],
    emissions: [],
    consumed: [],
    deferred: [],
  };

  constructor(model: Model, input: EvaluationInput) {
    this.#model = model;
    this.#input = input;
  }

  /** Evaluates one customer; where the engine throws, nothing of it is in the result. */
  add(customer: CustomerInput, before: CustomerState): void {
    const operations = customer.operations.map(operationOf);
    const { state, effects, deferred } = evaluate(this.#model, before, operations, {
      now: this.#input.now,
      timers: this.#timersMayFire(customer, before, operations) ? "fire" : "hold",
    });
    this.#addState(state);
    this.#addOperations(state, operations, deferred);
    this.#addEffects(customer.customerId, effects);
  }

  result(): EvaluationResult {
    return this.#result;
  }

  /** The settle rule: a backfill stays in order, because the timers of its customers wait until late events stopped coming. */
  #timersMayFire(customer: CustomerInput, before: CustomerState, operations: Operation[]): boolean {
    if (customer.more) return false;
    if (this.#input.settled || !isBackfilling(before, operations)) return true;
    const last = operations.findLast((operation) => operation.kind === "track") ?? before.lastTrack;
    return last !== null && this.#input.now >= last.acceptedAt + DAY_MS;
  }

  #addState(state: CustomerState): void {
    // Traits have a column of their own, merged by the database from what was accepted.
    const { traits: _, ...kept } = state;
    this.#result.customers.push({
      customerId: state.customerId,
      createdAt: state.createdAt,
      lifecycle: state.lifecycle?.state ?? null,
      lifecycleEnteredAt: state.lifecycle?.enteredAt ?? null,
      lastEventAt: state.lastEventAt,
      evaluatedThrough: state.evaluatedThrough,
      nextDueAt: state.nextDueAt,
      settleFrom: isBackfilling(state) ? (state.lastTrack?.acceptedAt ?? null) : null,
      state: kept,
    });
  }

  #addOperations(
    { customerId, evaluatedThrough }: CustomerState,
    operations: Operation[],
    deferred: TrackOperation[],
  ): void {
    const later = new Set(deferred.map((operation) => operation.seq));
    const consumed = operations.filter((operation) => !later.has(operation.seq));
    this.#result.consumed.push({ customerId, seqs: consumed.map((operation) => operation.seq) });
    for (const operation of consumed) {
      if (operation.kind === "identify") this.#result.identifies.push({ customerId, seq: operation.seq });
    }
    for (const { seq, occurredAt, acceptedAt } of deferred) {
      // A customer that was never evaluated is due at the acceptance, so the engine is to see the event then.
      this.#result.deferred.push({ customerId, seq, notBefore: evaluatedThrough === null ? acceptedAt : occurredAt });
    }
  }

  #addEffects(customerId: string, effects: Effect[]): void {
    const memberships = new Map<string, EvaluationResult["memberships"][number]>();
    for (const effect of effects) {
      switch (effect.kind) {
        case "transition":
          this.#result.transitions.push({
            customerId,
            from: effect.from,
            to: effect.to,
            at: effect.at,
            ...causeColumns(effect.cause),
          });
          break;
        case "segmentEntered":
          memberships.set(effect.segment, {
            customerId,
            segment: effect.segment,
            enteredAt: effect.at,
            exitedAt: null,
          });
          break;
        case "segmentExited":
          memberships.set(effect.segment, {
            customerId,
            segment: effect.segment,
            enteredAt: effect.enteredAt,
            exitedAt: effect.at,
          });
          break;
        case "emission":
          this.#result.emissions.push({
            customerId,
            type: effect.type,
            source: effect.source,
            metadata: effect.metadata,
            at: effect.at,
            ...causeColumns(effect.cause),
          });
          break;
        case "blocked":
          break; // shown by diagnostics only
      }
    }
    // A row holds the last membership only, so several changes of one segment come down to the last.
    this.#result.memberships.push(...memberships.values());
  }
}

/** The engine's state of a customer as loaded; a new one where it was never evaluated. */
export function stateOf(customer: CustomerInput): CustomerState {
  if (customer.state === null) return newCustomer(customer.customerId, customer.createdAt);
  return { ...customer.state, traits: customer.traits };
}

function operationOf([seq, acceptedAt, event, payload, occurredAt]: OperationRow): Operation {
  if (event === null || occurredAt === null) return { kind: "identify", seq, traits: payload, acceptedAt };
  return { kind: "track", seq, eventId: eventIdOf(seq), event, properties: payload, occurredAt, acceptedAt };
}

/** The same as svc.event_id in SQL; a test holds them together. */
function eventIdOf(seq: number): string {
  return `evt_${seq.toString(16).padStart(16, "0")}`;
}

function causeColumns(cause: Cause): CauseColumns {
  return { causeType: cause.kind, causeId: cause.kind === "event" ? cause.eventId : null };
}
