/** The senders: they distribute the operations, check every answer, and record what was acknowledged. */
import { acceptedIds } from "../src/client/answer.js";
import { DemoFailure } from "../src/demo/failure.js";
import { partitionOf } from "../src/demo/send.js";
import type { Client } from "./client.js";
import type { Gate } from "./gate.js";
import type { Ledger } from "./ledger.js";
import type { Operation } from "./operations.js";
import { Partition } from "./partition.js";

export interface LoadOptions {
  ledger: Ledger;
  gate: Gate;
  /** Senders of batches. */
  senders: number;
  /** Operations in a batch. */
  batch: number;
  /** A connection for each sender; the first `senders` are for batches, `SINGLE_SENDERS` more for single events. */
  clients: readonly Client[];
}

export const SINGLE_SENDERS = 4;
/** How many events a sender of single events takes from the reader at a time, so that the reader does not wait for it at every event. */
const SINGLES_READ_AHEAD = 100;

const EVENT_ID = /^evt_[0-9a-f]{16}$/;

/**
 * Sends all operations. Those of a customer use one sender and keep their order. Rejects with the first failure; the caller must then end
 * the other senders by the signal of their clients.
 */
export async function send(operations: AsyncIterable<Operation>, options: LoadOptions): Promise<void> {
  const { senders, batch, clients } = options;
  const lanes = clients.map((client, index) =>
    index < senders
      ? new Partition<Operation>(batch, (operations) => sendBatch(operations, client, options))
      : new Partition<Operation>(SINGLES_READ_AHEAD, (operations) => sendSingles(operations, client, options)),
  );
  const laneFor = ({ single, customerId }: Operation): Partition<Operation> =>
    lanes[single ? senders + partitionOf(customerId, SINGLE_SENDERS) : partitionOf(customerId, senders)]!;
  try {
    for await (const operation of operations) await laneFor(operation).push(operation);
    await Promise.all(lanes.map((lane) => lane.finish()));
    options.ledger.complete();
  } finally {
    await Promise.all(lanes.map((lane) => lane.settled()));
  }
}

type Notes = Pick<LoadOptions, "ledger" | "gate">;

async function sendBatch(operations: readonly Operation[], client: Client, { ledger, gate }: Notes): Promise<void> {
  await gate.pass(async () => {
    const { ids, begunAt } = await postBatch(operations, client);
    operations.forEach((operation, index) => ledger.acknowledge(operation, ids[index]!));
    ledger.accepted(operations, begunAt);
  });
}

/** Posts operations as one batch; returns the id of each, null for an identify, and when the accepted attempt began. */
export async function postBatch(
  operations: readonly Operation[],
  client: Client,
): Promise<{ ids: (string | null)[]; begunAt: number }> {
  const body = `{"events":[${operations.map(({ json }) => json).join(",")}]}`;
  const { status, text, begunAt } = await client.post("/v1/events/batch", body);
  const events = operations.filter(({ key }) => key !== null).length;
  const answered = status === 202 ? acceptedIds(text, operations.length, events) : null;
  if (answered === null || !answered.every(isEventId))
    throw unexpected(`a batch of ${operations.length} operations (${events} events)`, status, text);
  const next = answered.values();
  return { ids: operations.map(({ key }) => (key === null ? null : next.next().value!)), begunAt };
}

async function sendSingles(operations: readonly Operation[], client: Client, { ledger, gate }: Notes): Promise<void> {
  for (const operation of operations) await gate.pass(() => sendSingle(operation, client, ledger));
}

async function sendSingle(operation: Operation, client: Client, ledger: Ledger): Promise<void> {
  const { json, key } = operation;
  const { status, text, attempts, begunAt } = await client.post("/v1/events", json);
  const { eventId, accepted, queued, duplicate } = answerOf(status, text, 202) as Partial<Record<string, unknown>>;
  if (key === null || !isEventId(eventId) || accepted !== true || queued !== true || typeof duplicate !== "boolean")
    throw unexpected("a single event", status, text);
  // Only a repetition can be a duplicate.
  if (duplicate && attempts === 1 && !ledger.ids.has(key)) throw unexpected("a new single event", status, text);
  if (duplicate) ledger.duplicates++;
  ledger.acknowledge(operation, eventId);
  ledger.accepted([operation], begunAt);
}

function isEventId(value: unknown): value is string {
  return typeof value === "string" && EVENT_ID.test(value);
}

/** The document of an answer; throws a DemoFailure for any other status than the expected one. */
function answerOf(status: number, text: string, expected: number): object {
  if (status !== expected) throw unexpected("a request", status, text);
  try {
    return JSON.parse(text) as object;
  } catch {
    throw unexpected("a request", status, text);
  }
}

function unexpected(what: string, status: number, text: string): DemoFailure {
  return new DemoFailure(`${what} was answered unexpectedly: ${status} ${text.slice(0, 500)}`);
}
