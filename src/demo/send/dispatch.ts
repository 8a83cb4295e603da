/** Deals a stream of operations out to sequential senders. */
import { Agent } from "undici";
import type { Outgoing } from "./outgoing.js";
import { Sender, type SenderOptions } from "./sender.js";

const BATCH_OPERATIONS = 1_000;

export interface DispatchOptions extends Omit<SenderOptions, "dispatcher"> {
  senders?: number;
  /** Told after each accepted batch. */
  onProgress?: (sent: Sent) => void;
}

export interface Sent {
  operations: number;
  events: number;
  retries: number;
}

/**
 * Sends all operations in batches of 1,000 (the last of each sender may be smaller), over as many connections as there are
 * senders. A customer's operations keep their order. Reads ahead of the network by one batch a sender and no more, so a file of
 * any size fits. Rejects with the first failure of a sender, after the others have been stopped.
 */
export async function sendAll(
  operations: Iterable<Outgoing> | AsyncIterable<Outgoing>,
  options: DispatchOptions,
): Promise<Sent> {
  const { senders: count = 4, onProgress, ...rest } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal === undefined ? [] : [options.signal])]);
  const dispatcher = new Agent({ connections: count });
  const senders = Array.from({ length: count }, () => new Sender({ ...rest, dispatcher, signal }));
  const report = () => onProgress?.(total(senders));
  const lanes = senders.map((sender) => new Lane(sender, report, (error) => stop.abort(error)));
  try {
    for await (const operation of operations) await lanes[laneOf(operation.customerId, count)]!.push(operation);
    await Promise.all(lanes.map((lane) => lane.finish()));
    return total(senders);
  } catch (error) {
    stop.abort(error);
    // The first sender that failed gave the reason; the others merely stopped.
    throw signal.reason;
  } finally {
    await Promise.all(lanes.map((lane) => lane.settled()));
    await dispatcher.close();
  }
}

/** What waits for one sender: a batch that fills up while the one before it is under way. */
class Lane {
  #filling: Outgoing[] = [];
  #underWay: Promise<void> = Promise.resolve();

  constructor(
    private readonly sender: Sender,
    private readonly onAccepted: () => void,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  async push(operation: Outgoing): Promise<void> {
    this.#filling.push(operation);
    if (this.#filling.length === BATCH_OPERATIONS) await this.#dispatch();
  }

  async finish(): Promise<void> {
    if (this.#filling.length > 0) await this.#dispatch();
    await this.#underWay;
  }

  /** Waits for the batch before, and lets this one go. */
  async #dispatch(): Promise<void> {
    await this.#underWay;
    const batch = this.#filling;
    this.#filling = [];
    this.#underWay = this.sender.send(batch).then(this.onAccepted);
    // Whoever awaits next gets the rejection too; here it stops the other lanes at once.
    this.#underWay.catch(this.onFailed);
  }

  /** Resolves when nothing is under way any more, however that ended. */
  async settled(): Promise<void> {
    await this.#underWay.catch(() => undefined);
  }
}

/** FNV-1a of the id: the same customer always takes the same lane. */
export function laneOf(customerId: string, lanes: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < customerId.length; index++)
    hash = Math.imul(hash ^ customerId.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % lanes;
}

function total(senders: readonly Sender[]): Sent {
  const sum = (read: (sender: Sender) => number) => senders.reduce((all, sender) => all + read(sender), 0);
  return {
    operations: sum((sender) => sender.acknowledged),
    events: sum((sender) => sender.acknowledgedEvents),
    retries: sum((sender) => sender.retries),
  };
}
