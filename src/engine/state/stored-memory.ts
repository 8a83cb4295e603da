import { asIs, differences, listForm, nullableForm, objectForm, type StoredForm } from "./stored-forms.js";
import type {
  AggregateMemory,
  BoundaryMemory,
  ConditionMemory,
  DecimalMemory,
  DistinctMemory,
  ExtremeMemory,
  FirstMemory,
  LatestMemory,
  LogMemory,
  MarginMemory,
  MarginsMemory,
  OccurrencesMemory,
  Order,
  OutlookMemory,
  ScopeMemory,
  SearchMemory,
  SequenceMemory,
  StreamMemory,
  SumMemory,
} from "./types.js";

export const orderOrNull = nullableForm(objectForm<Order>({ occurredAt: asIs, seq: asIs }));

const boundary = nullableForm(objectForm<NonNullable<BoundaryMemory>>({ at: asIs, by: orderOrNull }));
const scope = objectForm<ScopeMemory>({ latest: orderOrNull, since: boundary });

const streamWithOccurrences = objectForm<StreamMemory>({ count: asIs, occurredAt: differences, seq: differences });
/** Most streams remember only a count. */
const stream: StoredForm<StreamMemory> = {
  write: (memory) => (memory.occurredAt.length === 0 ? memory.count : streamWithOccurrences.write(memory)),
  read: (stored: number) =>
    typeof stored === "number" ? { count: stored, occurredAt: [], seq: [] } : streamWithOccurrences.read(stored),
};

const occurrences = objectForm<OccurrencesMemory>({ occurredAt: differences, seq: differences, value: asIs });
const log = nullableForm(objectForm<LogMemory>({ occurredAt: differences, seq: differences, floor: orderOrNull }));

/** The list of a stored aggregate begins with its kind. */
const aggregates = {
  sum: objectForm<SumMemory>({
    kind: asIs,
    sum: objectForm<DecimalMemory>({ units: asIs, scale: asIs }),
    count: asIs,
    positive: asIs,
    negative: asIs,
    scope: nullableForm(scope),
    window: nullableForm(
      objectForm<NonNullable<SumMemory["window"]>>({ oldest: occurrences, others: asIs, othersFrom: orderOrNull }),
    ),
  }),
  extreme: objectForm<ExtremeMemory>({
    kind: asIs,
    oldest: occurrences,
    othersFrom: nullableForm(
      objectForm<NonNullable<ExtremeMemory["othersFrom"]>>({ occurredAt: asIs, seq: asIs, value: asIs }),
    ),
    scope,
  }),
  distinct: objectForm<DistinctMemory>({ kind: asIs, occurredAt: differences, seq: differences, value: asIs }),
  latest: objectForm<LatestMemory>({
    kind: asIs,
    latest: nullableForm(objectForm<NonNullable<LatestMemory["latest"]>>({ occurredAt: asIs, seq: asIs, value: asIs })),
  }),
  first: objectForm<FirstMemory>({ kind: asIs, occurredAt: asIs }),
  sequence: objectForm<SequenceMemory>({ kind: asIs, met: asIs, first: log, then: log, since: boundary }),
};

const formOfKind = aggregates as unknown as Record<AggregateMemory["kind"], StoredForm<AggregateMemory>>;
const aggregateList = listForm<AggregateMemory>({
  write: (memory) => formOfKind[memory.kind].write(memory),
  read: (stored: [kind: AggregateMemory["kind"]]) => formOfKind[stored[0]].read(stored as never),
});

const margin = objectForm<MarginMemory>({
  isLow: asIs,
  isIn: asIs,
  limitUnits: asIs,
  least: asIs,
  instants: differences,
  units: asIs,
});

const search = objectForm<SearchMemory>({
  number: asIs,
  present: asIs,
  anchors: asIs,
  outlook: objectForm<OutlookMemory>({ instant: asIs, aggregates: aggregateList }),
  checkpoint: nullableForm(
    objectForm<NonNullable<SearchMemory["checkpoint"]>>({ instant: asIs, aggregates: aggregateList, isOut: asIs }),
  ),
  margins: nullableForm(
    objectForm<MarginsMemory>({
      decimals: asIs,
      places: asIs,
      blur: asIs,
      margins: listForm(margin),
      greatestDivisor: asIs,
      isWhole: asIs,
    }),
  ),
});

/** The stored form of `ConditionMemory`. */
export const conditionMemory = objectForm<ConditionMemory>({
  model: asIs,
  awaitsEvaluation: asIs,
  streams: listForm(stream),
  aggregates: aggregateList,
  searches: listForm(search),
});
