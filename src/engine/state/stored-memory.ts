import { differences, form, type StoredForm, listForm, nullableForm } from "./forms.js";
import type {
  AggregateMemory,
  BoundaryMemory,
  ConditionMemory,
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

export const orderOrNull = nullableForm(
  form(
    ({ occurredAt, seq }: Order) => [occurredAt, seq] as const,
    ([occurredAt, seq]) => ({ occurredAt, seq }),
  ),
);

const boundary = nullableForm(
  form(
    ({ at, by }: NonNullable<BoundaryMemory>) => [at, orderOrNull.write(by)] as const,
    ([at, by]) => ({ at, by: orderOrNull.read(by) }),
  ),
);

const scope = form(
  ({ latest, since }: ScopeMemory) => [orderOrNull.write(latest), boundary.write(since)] as const,
  ([latest, since]) => ({ latest: orderOrNull.read(latest), since: boundary.read(since) }),
);
const scopeOrNull = nullableForm(scope);

/** Most streams remember nothing but how many there were. */
const stream = form(
  ({ count, occurredAt, seq }: StreamMemory) =>
    occurredAt.length === 0 ? count : ([count, differences.write(occurredAt), differences.write(seq)] as const),
  (kept) =>
    typeof kept === "number"
      ? { count: kept, occurredAt: [], seq: [] }
      : { count: kept[0], occurredAt: differences.read(kept[1]), seq: differences.read(kept[2]) },
);

const occurrences = form(
  ({ occurredAt, seq, value }: OccurrencesMemory) =>
    [differences.write(occurredAt), differences.write(seq), value] as const,
  ([occurredAt, seq, value]) => ({ occurredAt: differences.read(occurredAt), seq: differences.read(seq), value }),
);

const moving = nullableForm(
  form(
    ({ oldest, others, othersFrom }: NonNullable<SumMemory["window"]>) =>
      [occurrences.write(oldest), others, orderOrNull.write(othersFrom)] as const,
    ([oldest, others, othersFrom]) => ({
      oldest: occurrences.read(oldest),
      others,
      othersFrom: orderOrNull.read(othersFrom),
    }),
  ),
);

const sum = form(
  (memory: SumMemory) => {
    const { kind, count, positive, negative } = memory;
    const { units, scale } = memory.sum;
    const window = moving.write(memory.window);
    return [kind, [units, scale], count, positive, negative, scopeOrNull.write(memory.scope), window] as const;
  },
  ([kind, [units, scale], count, positive, negative, scope, window]) => ({
    kind,
    sum: { units, scale },
    count,
    positive,
    negative,
    scope: scopeOrNull.read(scope),
    window: moving.read(window),
  }),
);

const extreme = form(
  ({ kind, oldest, othersFrom: from, scope: selected }: ExtremeMemory) =>
    [kind, occurrences.write(oldest), from && [from.occurredAt, from.seq, from.value], scope.write(selected)] as const,
  ([kind, oldest, from, selected]) => ({
    kind,
    oldest: occurrences.read(oldest),
    othersFrom: from && { occurredAt: from[0]!, seq: from[1]!, value: from[2]! },
    scope: scope.read(selected),
  }),
);

const distinct = form(
  ({ kind, occurredAt, seq, value }: DistinctMemory) =>
    [kind, differences.write(occurredAt), differences.write(seq), value] as const,
  ([kind, occurredAt, seq, value]) => ({
    kind,
    value,
    occurredAt: differences.read(occurredAt),
    seq: differences.read(seq),
  }),
);

const latest = form(
  ({ kind, latest: last }: LatestMemory) => [kind, last && ([last.occurredAt, last.seq, last.value] as const)] as const,
  ([kind, last]) => ({ kind, latest: last && { occurredAt: last[0], seq: last[1], value: last[2] } }),
);

const first = form(
  ({ kind, occurredAt }: FirstMemory) => [kind, occurredAt] as const,
  ([kind, occurredAt]) => ({ kind, occurredAt }),
);

const log = nullableForm(
  form(
    ({ occurredAt, seq, floor }: LogMemory) =>
      [differences.write(occurredAt), differences.write(seq), orderOrNull.write(floor)] as const,
    ([occurredAt, seq, floor]) => ({
      occurredAt: differences.read(occurredAt),
      seq: differences.read(seq),
      floor: orderOrNull.read(floor),
    }),
  ),
);

const sequence = form(
  ({ kind, met, first: one, then: other, since }: SequenceMemory) =>
    [kind, met, log.write(one), log.write(other), boundary.write(since)] as const,
  ([kind, met, one, other, since]) => ({
    kind,
    met,
    first: log.read(one),
    then: log.read(other),
    since: boundary.read(since),
  }),
);

/** A kept aggregate begins with its kind. */
const aggregates = { sum, extreme, distinct, latest, first, sequence };

type KeptAggregate = readonly [kind: AggregateMemory["kind"], ...members: unknown[]];

const ofKind = aggregates as unknown as Record<AggregateMemory["kind"], StoredForm<AggregateMemory, KeptAggregate>>;
const aggregateList = listForm<AggregateMemory, KeptAggregate>(
  form(
    (memory) => ofKind[memory.kind].write(memory),
    (kept) => ofKind[kept[0]].read(kept),
  ),
);

const checkpoint = nullableForm(
  form(
    ({ instant, aggregates: ahead, isOut }: OutlookMemory & { isOut: boolean }) =>
      [instant, aggregateList.write(ahead), isOut] as const,
    ([instant, ahead, isOut]) => ({ instant, aggregates: aggregateList.read(ahead), isOut }),
  ),
);

const marginList = listForm(
  form(
    ({ isLow, isIn, limitUnits, least, instants, units }: MarginMemory) =>
      [isLow, isIn, limitUnits, least, differences.write(instants), units] as const,
    ([isLow, isIn, limitUnits, least, instants, units]) => ({
      isLow,
      isIn,
      limitUnits,
      least,
      instants: differences.read(instants),
      units,
    }),
  ),
);

const margins = nullableForm(
  form(
    ({ decimals, places, blur, margins: both, greatestDivisor, isWhole }: MarginsMemory) =>
      [decimals, places, blur, marginList.write(both), greatestDivisor, isWhole] as const,
    ([decimals, places, blur, both, greatestDivisor, isWhole]) => ({
      decimals,
      places,
      blur,
      margins: marginList.read(both),
      greatestDivisor,
      isWhole,
    }),
  ),
);

const searchList = listForm(
  form(
    ({ number, present, anchors, outlook, checkpoint: next, margins: both }: SearchMemory) => {
      const ahead = [outlook.instant, aggregateList.write(outlook.aggregates)] as const;
      const search = [number, present, anchors, ahead, checkpoint.write(next)] as const;
      return both === undefined ? search : ([...search, margins.write(both)] as const);
    },
    ([number, present, anchors, [instant, ahead], next, both]) => ({
      number,
      present,
      anchors,
      outlook: { instant, aggregates: aggregateList.read(ahead) },
      checkpoint: checkpoint.read(next),
      ...(both === undefined ? {} : { margins: margins.read(both) }),
    }),
  ),
);

const streamList = listForm(stream);

/** What the conditions of a model need to know of the past. */
export const conditionMemory = form(
  ({ model, awaitsEvaluation, streams, aggregates: remembered, searches }: ConditionMemory) => {
    const memory = [model, awaitsEvaluation, streamList.write(streams), aggregateList.write(remembered)] as const;
    return searches === undefined ? memory : ([...memory, searchList.write(searches)] as const);
  },
  ([model, awaitsEvaluation, streams, remembered, searches]) => ({
    model,
    awaitsEvaluation,
    streams: streamList.read(streams),
    aggregates: aggregateList.read(remembered),
    ...(searches === undefined ? {} : { searches: searchList.read(searches) }),
  }),
);
