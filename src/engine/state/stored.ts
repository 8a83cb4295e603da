import { newCustomer } from "./customer.js";
import { differences, form, type StoredForm, recordOf } from "./forms.js";
import { conditionMemory, orderOrNull } from "./stored-memory.js";
import type { CustomerState, HealthScore, JourneyRun, RaisedSignal } from "./types.js";

/**
 * A customer's state as svc.customers keeps it. What has a column of its own is left out, and so are parts that are as a new customer's;
 * the others are lists without names. States stay as they are for years: a member has its place for good, and another one comes at the end.
 */
export interface StoredState {
  times: Times;
  memory: ReturnType<typeof conditionMemory.write>;
  /** Those of `parts`. */
  [part: string]: unknown;
}

/** What has a column of its own. */
type Columns = Pick<CustomerState, "customerId" | "createdAt" | "traits">;

/** firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt. */
type Times = [number | null, number | null, number | null, number | null, number | null];

const asIs = form<unknown, unknown>(
  (value) => value,
  (kept) => kept,
);

const steps = recordOf(
  form(
    ({ completedAt, triggeredBy, by }: JourneyRun["steps"][string]) =>
      [completedAt, triggeredBy, orderOrNull.write(by)] as const,
    ([completedAt, triggeredBy, by]) => ({ completedAt, triggeredBy, by: orderOrNull.read(by) }),
  ),
);

const journeys = recordOf(
  form(
    (run: JourneyRun) =>
      [
        run.run,
        run.status,
        run.currentStep,
        run.startedAt,
        orderOrNull.write(run.startedBy),
        steps.write(run.steps),
        run.completedAt,
        run.expiredAt,
        orderOrNull.write(run.endedBy),
      ] as const,
    ([run, status, currentStep, startedAt, startedBy, completed, completedAt, expiredAt, endedBy]) => ({
      run,
      status,
      currentStep,
      startedAt,
      startedBy: orderOrNull.read(startedBy),
      steps: steps.read(completed),
      completedAt,
      expiredAt,
      endedBy: orderOrNull.read(endedBy),
    }),
  ),
);

type Parts = Omit<
  CustomerState,
  keyof Columns | "firstEvaluatedAt" | "evaluatedThrough" | "lastEventAt" | "timerDueAt" | "nextDueAt" | "memory"
>;

/** Left out where they are null, empty or absent. svc.broken_parts reads names, and the run and status of journeys. */
const parts = {
  lastTrack: form(
    ({ occurredAt, acceptedAt, seq }: NonNullable<CustomerState["lastTrack"]>) =>
      [occurredAt, acceptedAt, seq] as const,
    ([occurredAt, acceptedAt, seq]) => ({ occurredAt, acceptedAt, seq }),
  ),
  traitsChangedAt: asIs,
  traitsChangedSeq: asIs,
  traitsDueAt: differences,
  traitsDueSeqs: differences,
  lifecycle: form(
    ({ state, enteredAt, cause }: NonNullable<CustomerState["lifecycle"]>) =>
      [state, enteredAt, orderOrNull.write(cause)] as const,
    ([state, enteredAt, cause]) => ({ state, enteredAt, cause: orderOrNull.read(cause) }),
  ),
  journeys,
  segments: recordOf(
    form(
      ({ enteredAt }: CustomerState["segments"][string]) => enteredAt,
      (enteredAt) => ({ enteredAt }),
    ),
  ),
  health: form(
    ({ overall, components, band }: HealthScore) => [overall, components, band] as const,
    ([overall, components, band]) => ({ overall, components, band }),
  ),
  healthChangesAt: asIs,
  rules: recordOf(
    form(
      ({ passedAt }: CustomerState["rules"][string]) => passedAt,
      (passedAt) => ({ passedAt }),
    ),
  ),
  signals: recordOf(
    form(
      ({ raisedAt, renewedAt, severity, message }: RaisedSignal) => [raisedAt, renewedAt, severity, message] as const,
      ([raisedAt, renewedAt, severity, message]) => ({ raisedAt, renewedAt, severity, message }),
    ),
  ),
  movesByTime: asIs,
} satisfies Record<keyof Parts, unknown>;
const namedParts = Object.entries(parts as unknown as Record<string, StoredForm<unknown, unknown>>);

/** What is to be stored of a state, as plain JSON. */
export function storedState(state: CustomerState): StoredState {
  const { firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt } = state;
  const stored: StoredState = {
    // svc.broken_parts reads when timers are due.
    times: [firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt],
    memory: conditionMemory.write(state.memory),
  };
  for (const [part, { write }] of namedParts) {
    const value = state[part as keyof Parts];
    if (!isEmpty(value)) stored[part] = write(value);
  }
  return stored;
}

/** The state again, also one that was stored before states were kept short: as the engine has it, but for the traits. */
export function stateOf(stored: StoredState, { customerId, createdAt, traits }: Columns): CustomerState {
  if (!Array.isArray(stored.memory)) return { ...(stored as unknown as CustomerState), traits };
  const [firstEvaluatedAt, evaluatedThrough, lastEventAt, timerDueAt, nextDueAt] = stored.times;
  const state: CustomerState = {
    ...newCustomer(customerId, createdAt),
    firstEvaluatedAt,
    evaluatedThrough,
    lastEventAt,
    traits,
    memory: conditionMemory.read(stored.memory),
    timerDueAt,
    nextDueAt,
  };
  for (const [part, { read }] of namedParts) {
    if (part in stored) (state as unknown as Record<string, unknown>)[part] = read(stored[part]);
  }
  return state;
}

function isEmpty(value: Parts[keyof Parts]): boolean {
  if (typeof value !== "object") return value === undefined;
  return value === null || Object.keys(value).length === 0;
}
