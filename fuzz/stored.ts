/** Compares what was accepted with what is stored. */
import { isDeepStrictEqual } from "node:util";
import type { Sql } from "postgres";
import type { Body } from "./bodies.js";
import { exactJson, withoutNotation } from "./exact.js";
import type { Part } from "./part.js";

/** A body with the text of its 202. */
export interface Accepted {
  body: Body;
  answer: string;
}

/** The exact value of an operation; see exact.ts. */
type Exact = Record<string, unknown>;

interface SentOperation {
  /** The number of an event; null for an identify. */
  seq: string | null;
  value: Exact;
  body: Body;
}

interface Row {
  seq: string;
  isEvent: boolean;
  customerId: string;
  event: string | null;
  payload: string;
  /** In microseconds since 1970. */
  occurredAt: string | null;
  acceptedAt: string;
  idempotencyKey: string | null;
}

/** Compares everything that is stored in an environment with what was accepted, chunk by chunk. */
export class Stored {
  #through = "-1";

  constructor(
    private readonly sql: Sql,
    private readonly environmentId: number,
    private readonly part: Part,
  ) {}

  /** Compares what was accepted with what was stored since the last call; no request may be under way. */
  async compare(accepted: readonly Accepted[]): Promise<void> {
    const sent = accepted.flatMap((one) => this.#operationsOf(one));
    const rows = await this.#rows(sent.flatMap(({ seq }) => seq ?? []));
    const before = BigInt(this.#through);
    const isNew = ({ seq }: Row) => BigInt(seq) > before;
    for (const row of rows) if (BigInt(row.seq) > BigInt(this.#through)) this.#through = row.seq;

    const bySeq = groupsOf(
      sent.filter(({ seq }) => seq !== null),
      ({ seq }) => seq!,
    );
    const events = rows.filter(({ isEvent }) => isEvent);
    for (const row of events) {
      const repetitions = bySeq.get(row.seq);
      bySeq.delete(row.seq);
      if (repetitions === undefined)
        this.#note("doubled", `stored an event that was not accepted: ${row.payload.slice(0, 200)}`, null);
      else this.#compareEvent(row, repetitions, isNew(row));
    }
    for (const [operation] of bySeq.values())
      this.#note("lost", "accepted an event that is not stored", operation!.body);
    this.#compareTraits(
      rows.filter((row) => !row.isEvent && isNew(row)),
      sent.filter(({ seq }) => seq === null),
    );
  }

  #operationsOf({ body, answer }: Accepted): SentOperation[] {
    const { eventId, eventIds, accepted } = JSON.parse(answer) as {
      eventId?: string;
      eventIds?: string[];
      accepted: unknown;
    };
    const ids = eventIds ?? [eventId!];
    try {
      const value = exactJson(new TextDecoder("utf-8", { fatal: true }).decode(body.text)) as Exact;
      const operations = body.path === "/v1/events" ? [value] : (value["sevents"] as Exact[]);
      const remaining = ids.values();
      const made = operations.map((operation) => {
        const id = operation["stype"] === "sidentify" ? null : remaining.next().value!;
        return { value: operation, seq: id === null ? null : BigInt(`0x${id.slice("evt_".length)}`).toString(), body };
      });
      const isWhole = remaining.next().done === true && (accepted === true || accepted === operations.length);
      if (!isWhole)
        this.part.found(`the numbers in the answer are not those of the request: ${answer}`, attemptOf(body));
      return made;
    } catch (error) {
      this.part.found(`accepted what cannot be read: ${String(error)}`, attemptOf(body));
      return [];
    }
  }

  /** All rows that were not read before, and those with these numbers. */
  #rows(seqs: string[]): Promise<Row[]> {
    const after = this.#through;
    return this.sql<Row[]>`
      select
        event_seq as seq, true as "isEvent", customer_id as "customerId", event, properties::text as payload,
        trunc(extract(epoch from occurred_at) * 1000000)::text as "occurredAt",
        trunc(extract(epoch from accepted_at) * 1000000)::text as "acceptedAt", idempotency_key as "idempotencyKey"
      from svc.events
      where environment_id = ${this.environmentId} and (event_seq > ${after} or event_seq = any(${seqs}::bigint[]))
      union all
      select operation_seq, false, customer_id, null, traits::text, null, trunc(extract(epoch from accepted_at) * 1000000)::text, null
      from svc.trait_updates
      where environment_id = ${this.environmentId} and operation_seq > ${after}
      order by seq`;
  }

  /** One of the operations that were answered with an id must be stored digit by digit; the others must have the same value. */
  #compareEvent(row: Row, sent: readonly SentOperation[], isNew: boolean): void {
    this.part.compared += sent.length;
    const stored = storedEvent(row);
    const rests = sent.map(({ value }) => eventOf(value));
    const differing = sent.find(
      (_, index) => !isDeepStrictEqual(withoutNotation(rests[index]), withoutNotation(stored)),
    );
    const wrong = differing ?? (!isNew || rests.some((rest) => isDeepStrictEqual(rest, stored)) ? undefined : sent[0]);
    if (wrong !== undefined) this.#note("altered", `stored ${JSON.stringify(stored).slice(0, 300)}`, wrong.body);
    const late = sent.find(({ value }) => !isSameInstant(value["stimestamp"] as string | undefined, row));
    if (late !== undefined) this.#note("altered", `stored the timestamp ${row.occurredAt} µs`, late.body);
  }

  /** Identifies have no ids: each stored one must have been sent. */
  #compareTraits(rows: readonly Row[], sent: readonly SentOperation[]): void {
    this.part.compared += sent.length;
    const missing = groupsOf(sent, ({ value }) => keyOf(value["scustomerId"], value["straits"]));
    const strange = rows.filter(
      ({ customerId, payload }) => missing.get(keyOf(`s${customerId}`, exactJson(payload)))?.pop() === undefined,
    );
    const without = [...missing.values()].flat();
    for (const row of strange) {
      const operation = without.pop();
      this.#note(
        operation === undefined ? "doubled" : "altered",
        `stored traits that were not sent: ${row.payload.slice(0, 300)}`,
        operation?.body ?? null,
      );
    }
    for (const { body } of without) this.#note("lost", "accepted traits that are not stored", body);
  }

  #note(how: "lost" | "altered" | "doubled", what: string, body: Body | null): void {
    this.part[how] += 1;
    this.part.found(`${how}: ${what}`, body === null ? null : attemptOf(body));
  }
}

function groupsOf<T>(items: readonly T[], keyFor: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyFor(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

const attemptOf = ({ path, headers, text }: Body) => ({ path, headers, body: text });

const eventOf = (value: Exact): Exact => ({
  customerId: value["scustomerId"],
  event: value["sevent"],
  properties: value["sproperties"] ?? {},
  idempotencyKey: value["sidempotencyKey"] ?? null,
});

const storedEvent = ({ customerId, event, payload, idempotencyKey }: Row): Exact => ({
  customerId: `s${customerId}`,
  event: `s${event}`,
  properties: exactJson(payload),
  idempotencyKey: idempotencyKey === null ? null : `s${idempotencyKey}`,
});

/** A key that is equal for objects with the same members in another order. */
const keyOf = (...values: unknown[]): string =>
  JSON.stringify(values, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
      : value,
  );

const INSTANT = /^s(\d{4}-\d\d-\d\d)t(\d\d:\d\d)(:\d\d)?(?:\.(\d+))?(z|[+-]\d\d)(?::?(\d\d))?$/i;

/** Whether the stored instant is the one that was sent, if any, rounded to the microsecond. */
function isSameInstant(timestamp: string | undefined, { occurredAt, acceptedAt }: Row): boolean {
  if (timestamp === undefined) return occurredAt === acceptedAt;
  const [, date, time, seconds = ":00", fraction = "", hours = "", minutes = "00"] = INSTANT.exec(timestamp) ?? [];
  const zone = /z/i.test(hours) ? "Z" : `${hours}:${minutes}`;
  const nanoseconds =
    BigInt(Date.parse(`${date}T${time}${seconds}${zone}`)) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
  const difference = BigInt(occurredAt!) * 1_000n - nanoseconds;
  return difference <= 500n && difference >= -500n;
}
