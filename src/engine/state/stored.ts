import { newCustomer } from "./customer.js";
import { asIs, byKind, differences, type Form, listOf, members, only, orNull, recordOf } from "./forms.js";
import type {
  AggregateMemory,
  ConditionMemory,
  CustomerState,
  JourneyRun,
  MarginMemory,
  MarginsMemory,
  OccurrencesMemory,
  Order,
  OutlookMemory,
  RaisedSignal,
  ScopeMemory,
  SearchMemory,
  StreamMemory,
} from "./types.js";

/**
 * A customer's state as svc.customers keeps it. What has a column of its own is left out, and so are parts that are as a new customer's;
 * the others are lists without names (see the forms below). States stay as they are for years: a member has its place for good, and another
 * one comes at the end.
 */
export interface StoredState {
  times: unknown;
  memory: unknown;
  [part: string]: unknown;
}

/** What has a column of its own. */
type Columns = Pick<CustomerState, "customerId" | "createdAt" | "traits">;

const instant = asIs<number>();
const count = asIs<number>();
const seq = asIs<number>();
const flag = asIs<boolean>();
const name = asIs<string>();

const order = members<Order>({ occurredAt: instant, seq });
const boundary = orNull(members<{ at: number | null; by: Order | null }>({ at: orNull(instant), by: orNull(order) }));
const scope = members<ScopeMemory>({ latest: orNull(order), since: boundary });

const places = members<StreamMemory>({ count, occurredAt: differences, seq: differences });
/** Most streams remember nothing but how many there were. */
const stream: Form<StreamMemory> = {
  write: (value) => (value.occurredAt.length === 0 ? value.count : places.write(value)),
  read: (kept) => (typeof kept === "number" ? { count: kept, occurredAt: [], seq: [] } : places.read(kept)),
};

type Of<Kind> = Extract<AggregateMemory, { kind: Kind }>;
type Present<T> = Exclude<T, null>;

const occurrences = members<OccurrencesMemory>({ occurredAt: differences, seq: differences, value: asIs() });
const log = orNull(
  members<Present<Of<"sequence">["first"]>>({ occurredAt: differences, seq: differences, floor: orNull(order) }),
);
const aggregate = byKind<AggregateMemory>({
  sum: members<Of<"sum">>({
    kind: asIs(),
    sum: members<Of<"sum">["sum"]>({ units: asIs(), scale: count }),
    count,
    positive: count,
    negative: count,
    scope: orNull(scope),
    window: orNull(
      members<Present<Of<"sum">["window"]>>({ oldest: occurrences, others: count, othersFrom: orNull(order) }),
    ),
  }),
  extreme: members<Of<"extreme">>({
    kind: asIs(),
    oldest: occurrences,
    othersFrom: orNull(members<Order & { value: number }>({ occurredAt: instant, seq, value: asIs() })),
    scope,
  }),
  distinct: members<Of<"distinct">>({ kind: asIs(), occurredAt: differences, seq: differences, value: asIs() }),
  latest: members<Of<"latest">>({
    kind: asIs(),
    latest: orNull(members<Present<Of<"latest">["latest"]>>({ occurredAt: instant, seq, value: asIs() })),
  }),
  first: members<Of<"first">>({ kind: asIs(), occurredAt: orNull(instant) }),
  sequence: members<Of<"sequence">>({ kind: asIs(), met: flag, first: log, then: log, since: boundary }),
});

const outlook = members<OutlookMemory>({ instant, aggregates: listOf(aggregate) });
const margin = members<MarginMemory>({
  isLow: flag,
  isIn: flag,
  limitUnits: asIs(),
  least: asIs(),
  instants: differences,
  units: asIs(),
});
const margins = members<MarginsMemory>({
  decimals: count,
  places: count,
  blur: asIs(),
  margins: listOf(margin),
  greatestDivisor: asIs(),
  isWhole: flag,
});
const search = members<SearchMemory>({
  number: asIs(),
  present: asIs(),
  anchors: asIs(),
  outlook,
  checkpoint: orNull(
    members<Present<SearchMemory["checkpoint"]>>({ instant, aggregates: listOf(aggregate), isOut: flag }),
  ),
  margins: orNull(margins) as Form<SearchMemory["margins"]>,
});

const memory = members<ConditionMemory>({
  model: asIs(),
  awaitsEvaluation: flag,
  streams: listOf(stream),
  aggregates: listOf(aggregate),
  searches: listOf(search) as Form<ConditionMemory["searches"]>,
});

const run = members<JourneyRun>({
  run: count,
  status: asIs(),
  currentStep: name,
  startedAt: instant,
  startedBy: orNull(order),
  steps: recordOf(members<JourneyRun["steps"][string]>({ completedAt: instant, triggeredBy: name, by: orNull(order) })),
  completedAt: orNull(instant),
  expiredAt: orNull(instant),
  endedBy: orNull(order),
});

type Times = Pick<CustomerState, "firstEvaluatedAt" | "evaluatedThrough" | "lastEventAt" | "timerDueAt" | "nextDueAt">;

/** Every state has them. svc.broken_parts reads when its timers are due. */
const times = members<Times>({
  firstEvaluatedAt: orNull(instant),
  evaluatedThrough: orNull(instant),
  lastEventAt: orNull(instant),
  timerDueAt: orNull(instant),
  nextDueAt: orNull(instant),
});

type Parts = Omit<CustomerState, keyof Columns | keyof Times | "memory">;

/** Left out where they are null, empty or absent. svc.broken_parts reads names, and the run and status of journeys. */
const parts = Object.entries<Form<unknown>>({
  lastTrack: members<Present<Parts["lastTrack"]>>({ occurredAt: instant, acceptedAt: instant, seq }),
  traitsChangedAt: instant,
  traitsChangedSeq: seq,
  traitsDueAt: differences,
  traitsDueSeqs: differences,
  lifecycle: members<Present<Parts["lifecycle"]>>({ state: name, enteredAt: instant, cause: orNull(order) }),
  journeys: recordOf(run),
  segments: recordOf(only("enteredAt", instant)),
  health: members<Present<Parts["health"]>>({ overall: asIs(), components: asIs(), band: name }),
  healthChangesAt: instant,
  rules: recordOf(only("passedAt", instant)),
  signals: recordOf(
    members<RaisedSignal>({ raisedAt: instant, renewedAt: instant, severity: asIs(), message: asIs() }),
  ),
  movesByTime: count,
} satisfies { [Part in keyof Required<Parts>]: unknown });

export function storedState(state: CustomerState): StoredState {
  const stored: StoredState = { times: times.write(state), memory: memory.write(state.memory) };
  for (const [part, form] of parts) {
    const value = state[part as keyof Parts];
    if (!isEmpty(value)) stored[part] = form.write(value);
  }
  return stored;
}

/** The state again, also one that was stored before states were kept short: as the engine has it, but for the traits. */
export function stateOf(stored: StoredState, columns: Columns): CustomerState {
  if (!Array.isArray(stored.memory)) return { ...(stored as unknown as CustomerState), traits: columns.traits };
  const state = { ...newCustomer(columns.customerId, columns.createdAt), ...times.read(stored.times) };
  state.traits = columns.traits;
  state.memory = memory.read(stored.memory);
  const read = parts.flatMap(([part, form]) => (part in stored ? [[part, form.read(stored[part])] as const] : []));
  return Object.assign(state, Object.fromEntries(read));
}

function isEmpty(value: Parts[keyof Parts]): boolean {
  if (typeof value !== "object") return value === undefined;
  return value === null || Object.keys(value).length === 0;
}
