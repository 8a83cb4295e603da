import type { Model } from "../../engine/index.js";

/** Limits of one chunk: approximate length of its JSON, customers, bytes of their data. They bound memory, whatever the customers are like. */
const CHUNK = { length: 1024 * 1024, customersFirst: 10, customersMax: 500, bytes: 16 * 1024 * 1024 };
/** Limits of what is replayed of a customer at once: events, the runs of rules that they may cause (each with an explanation), and bytes. */
const EACH = { max: 2_000, min: 50, runs: 20_000, bytes: 512 * 1024 };

/** What to read of customers that are replayed under these models. */
export function limitsFor(models: readonly Model[]) {
  const rules = models.reduce((sum, model) => sum + model.rules.length, 0);
  return {
    propertyEvents: [...new Set(models.flatMap((model) => model.propertyEvents))],
    each: Math.max(EACH.min, Math.min(EACH.max, Math.floor(EACH.runs / (1 + rules)))),
    bytesEach: EACH.bytes,
    bytes: CHUNK.bytes,
  };
}

/**
 * All customers after `afterCustomerId`, chunk by chunk, each as JSON. While one chunk is processed, the next two are read, one after the
 * other. The consumer parses each customer when it processes it, while the connection reads ahead.
 *
 * @param readChunk reads at most `customers` customers after a given one
 */
export async function* inChunks(
  afterCustomerId: string | null,
  readChunk: (afterCustomerId: string | null, customers: number) => Promise<string[]>,
): AsyncGenerator<string[]> {
  let customers = CHUNK.customersFirst;
  const after = async (before: Promise<string[]>): Promise<string[]> => {
    const chunk = await before;
    const last = chunk.at(-1);
    if (last === undefined) return [];
    const length = chunk.reduce((sum, text) => sum + text.length, 0);
    const share = Math.ceil((chunk.length * CHUNK.length) / length);
    // At most twice what was read: a chunk that is smaller than requested is the last one, or limited by bytes.
    customers = Math.min(share, 2 * chunk.length, CHUNK.customersMax);
    return readChunk((JSON.parse(last) as { customerId: string }).customerId, customers);
  };
  const ahead: Promise<string[]>[] = [];
  const readAhead = (reading: Promise<string[]>): void => {
    ahead.push(reading);
    // Avoid an unhandled rejection when the consumer stops early.
    reading.catch(() => undefined);
  };
  readAhead(readChunk(afterCustomerId, customers));
  readAhead(after(ahead[0]!));
  for (;;) {
    const chunk = await ahead.shift()!;
    if (chunk.length === 0) return;
    readAhead(after(ahead[0]!));
    yield chunk;
  }
}
