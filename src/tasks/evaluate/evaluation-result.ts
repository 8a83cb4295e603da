import type { CustomerInput, EvaluationInput, EvaluationResult, OperationRow } from "../../db/api/evaluation.js";
import type { Budget, CustomerState, HistorySource, Model, Operation, TrackOperation } from "../../engine/index.js";
import { evaluate, eventIdOf, storedState, timersMayFire } from "../../engine/index.js";
import { addEffects, customerColumns } from "../rows.js";
import { TrendChanges } from "./trend-changes.js";

/** Maximum size of a customer's traits as JSON: each evaluation reads and writes all of them. */
const TRAITS_BYTES_MAX = 1024 * 1024;

/** Runs the engine for the customers of a chunk and collects the rows to write back, table by table. */
export class EvaluationBuilder {
  readonly result: EvaluationResult = {
    transitions: [],
    blocked: [],
    journeys: [],
    memberships: [],
    healthScores: [],
    ruleExecutions: [],
    signals: [],
    emissions: [],
    customers: [],
    states: "",
    changes: [],
    consumed: [],
    deferred: [],
  };

  readonly #changes = new TrendChanges(this.result.changes);
  /** Whether a customer has more to evaluate. */
  leavesWork = false;

  constructor(
    private readonly model: Model,
    private readonly input: EvaluationInput,
  ) {}

  /**
   * Evaluates one customer, as far as the budget allows. If the engine throws, or traits grow too large, nothing is added to the result.
   *
   * @throws {HistoryNeeded} if it needs history that was not given: fetch that and call again with the same state
   */
  add(customer: CustomerInput, before: CustomerState, budget: Budget, history?: HistorySource): void {
    const operations = customer.operations.map(operationOf);
    const { now } = this.input;
    // Operations that were not read yet come before timers that are due after them.
    const fire = !customer.more && timersMayFire(before, operations, this.input);
    const { state, effects, deferred, taken, isDone } = evaluate(this.model, before, operations, {
      now,
      timers: fire ? "fire" : "hold",
      budget,
      ...(customer.aheadFrom === null ? {} : { aheadFrom: customer.aheadFrom }),
      ...(history === undefined ? {} : { history }),
    });
    if (state.traits !== before.traits) boundTraits(before.traits, state.traits);
    if (!isDone || customer.more) this.leavesWork = true;
    // Charges the effects; the chunk checks whether the budget is spent.
    budget(effects);
    const identifies = this.#addOperations(state, operations.slice(0, taken), deferred);
    const line = JSON.stringify(storedState(state));
    this.result.states += this.result.customers.length === 0 ? line : `\n${line}`;
    const columns = { ...customerColumns(state), createdAt: state.createdAt };
    this.result.customers.push(identifies.length === 0 ? columns : { ...columns, identifies });
    addEffects(this.result, customer, effects);
    this.#changes.add(before.health, effects);
  }

  /** @returns the numbers of the identifies that were evaluated */
  #addOperations(
    { customerId, evaluatedThrough }: CustomerState,
    taken: Operation[],
    deferred: TrackOperation[],
  ): number[] {
    const later = new Set(deferred.map((operation) => operation.seq));
    const consumed = taken.filter((operation) => !later.has(operation.seq));
    this.result.consumed.push({ customerId, seqs: consumed.map((operation) => operation.seq) });
    for (const { seq, occurredAt, acceptedAt } of deferred) {
      // A customer that was never evaluated is due at the event's acceptance, so the engine must see the event then.
      this.result.deferred.push({ customerId, seq, notBefore: evaluatedThrough === null ? acceptedAt : occurredAt });
    }
    return consumed.filter(({ kind }) => kind === "identify").map(({ seq }) => seq);
  }
}

/** Throws if traits have grown beyond their limit; larger ones from before may shrink or stay. */
function boundTraits(before: CustomerState["traits"], after: CustomerState["traits"]): void {
  const bytesOf = (traits: CustomerState["traits"]) => Buffer.byteLength(JSON.stringify(traits));
  const bytes = bytesOf(after);
  if (bytes <= TRAITS_BYTES_MAX || bytes <= bytesOf(before)) return;
  throw new Error(
    `the traits would take ${bytes} bytes, more than ${TRAITS_BYTES_MAX}: remove some with an identify that sets them to null, then release the customer`,
  );
}

function operationOf([seq, acceptedAt, event, payload, occurredAt]: OperationRow): Operation {
  if (event === null || occurredAt === null) return { kind: "identify", seq, traits: payload, acceptedAt };
  return { kind: "track", seq, eventId: eventIdOf(seq), event, properties: payload, occurredAt, acceptedAt };
}
