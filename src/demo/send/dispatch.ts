/** Deals a stream of operations out to sequential senders. */
import { Agent } from "undici";
import { Partition, partitionOf } from "./partition.js";
import type { Outgoing } from "./outgoing.js";
import { DemoSender, type SenderOptions } from "./sender.js";

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
  const senders = Array.from({ length: count }, () => new DemoSender({ ...rest, dispatcher, signal }));
  const send = async (sender: DemoSender, batch: readonly Outgoing[]): Promise<void> => {
    try {
      await sender.send(batch);
      onProgress?.(total(senders));
    } catch (error) {
      // The partition tells it to whoever awaits it next; the others are stopped at once.
      stop.abort(error);
      throw error;
    }
  };
  const partitions = senders.map((sender) => new Partition<Outgoing>(BATCH_OPERATIONS, (batch) => send(sender, batch)));
  try {
    for await (const operation of operations)
      await partitions[partitionOf(operation.customerId, count)]!.push(operation);
    await Promise.all(partitions.map((partition) => partition.finish()));
    return total(senders);
  } catch (error) {
    stop.abort(error);
    // The first sender that failed gave the reason; the others merely stopped.
    throw signal.reason;
  } finally {
    await Promise.all(partitions.map((partition) => partition.settled()));
    await dispatcher.close();
  }
}

function total(senders: readonly DemoSender[]): Sent {
  const sum = (read: (sender: DemoSender) => number) => senders.reduce((all, sender) => all + read(sender), 0);
  return {
    operations: sum((sender) => sender.acknowledged),
    events: sum((sender) => sender.acknowledgedEvents),
    retries: sum((sender) => sender.retries),
  };
}
