import { newCustomer } from "./customer.js";
import { asIs, differences, objectForm, recordForm, type StoredForm } from "./stored-forms.js";
import { conditionMemory, orderOrNull } from "./stored-memory.js";
import type { CustomerState, HealthScore, JourneyRun, RaisedSignal } from "./types.js";

/**
 * A customer's state as svc.customers stores it. Members with their own column are left out, and so are parts that are as in a new
 * customer; the others are lists without names.
 */
export interface StoredState {
  times: Times;
  /** A list in the form of `conditionMemory`. */
  memory: unknown;
  /** The members of `parts`. */
  [part: string]: unknown;
}

/** The members that have their own column. */
type Columns = Pick<CustomerState, "customerId" | "createdAt" | "traits">;

/** firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt. */
type Times = [number | null, number | null, number | null, number | null, number | null];

type Parts = Omit<
  CustomerState,
  keyof Columns | "firstEvaluatedAt" | "evaluatedThrough" | "lastEventAt" | "timerDueAt" | "nextDueAt" | "memory"
>;

type Step = JourneyRun["steps"][string];

/** Left out if null, empty or absent. svc.broken_parts reads the part names, and the run and status of journeys. */
const parts: { readonly [Part in keyof Parts]-?: StoredForm<NonNullable<Parts[Part]>> } = {
  lastTrack: objectForm<NonNullable<CustomerState["lastTrack"]>>({ occurredAt: asIs, acceptedAt: asIs, seq: asIs }),
  traitsChangedAt: asIs,
  traitsChangedSeq: asIs,
  traitsDueAt: differences,
  traitsDueSeqs: differences,
  lifecycle: objectForm<NonNullable<CustomerState["lifecycle"]>>({ state: asIs, enteredAt: asIs, cause: orderOrNull }),
  journeys: recordForm(
    objectForm<JourneyRun>({
      run: asIs,
      status: asIs,
      currentStep: asIs,
      startedAt: asIs,
      startedBy: orderOrNull,
      steps: recordForm(objectForm<Step>({ completedAt: asIs, triggeredBy: asIs, by: orderOrNull })),
      completedAt: asIs,
      expiredAt: asIs,
      endedBy: orderOrNull,
    }),
  ),
  segments: recordForm({ write: ({ enteredAt }) => enteredAt, read: (enteredAt) => ({ enteredAt }) }),
  health: objectForm<HealthScore>({ overall: asIs, components: asIs, band: asIs }),
  healthChangesAt: asIs,
  rules: recordForm({ write: ({ passedAt }) => passedAt, read: (passedAt) => ({ passedAt }) }),
  signals: recordForm(objectForm<RaisedSignal>({ raisedAt: asIs, renewedAt: asIs, severity: asIs, message: asIs })),
  movesByTime: asIs,
};
const namedParts = Object.entries(parts) as [keyof Parts, StoredForm<unknown>][];

/** The stored form of a state, as plain JSON. */
export function storedState(state: CustomerState): StoredState {
  const { firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt } = state;
  const stored: StoredState = {
    // svc.broken_parts reads timerDueAt from here.
    times: [firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt],
    memory: conditionMemory.write(state.memory),
  };
  for (const [part, { write }] of namedParts) {
    const value = state[part];
    if (!isEmpty(value)) stored[part] = write(value);
  }
  return stored;
}

/** Reads a stored state, also one from before the compact form: that one is the engine's state, except for the traits. */
export function stateOf(stored: StoredState, { customerId, createdAt, traits }: Columns): CustomerState {
  if (!Array.isArray(stored.memory)) return { ...(stored as unknown as CustomerState), traits };
  const [firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt] = stored.times;
  const state: CustomerState = {
    ...newCustomer(customerId, createdAt),
    firstEvaluatedAt,
    evaluatedThrough,
    lastEventAt,
    traits,
    memory: conditionMemory.read(stored.memory as never),
    timerDueAt,
    nextDueAt,
  };
  for (const [part, { read }] of namedParts) {
    if (part in stored) (state as unknown as Record<string, unknown>)[part] = read(stored[part] as never);
  }
  return state;
}

function isEmpty(value: Parts[keyof Parts]): boolean {
  if (typeof value !== "object") return value === undefined;
  return value === null || Object.keys(value).length === 0;
}
