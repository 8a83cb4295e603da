import type { Model } from "../../engine/index.js";

/** What one chunk holds: about so much text, and of customers. The numbers bound memory, whatever customers come. */
const CHUNK = { length: 1024 * 1024, customersFirst: 10, customersMax: 500, bytes: 16 * 1024 * 1024 };
/** Events of a customer that are gone through at once, and how many runs of rules they may cause, of which each has its explanation. */
const EACH = { max: 2_000, min: 50, runs: 20_000, bytes: 512 * 1024 };

/** What is read of customers that go through these models. */
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
 * All customers after one of them, chunk by chunk, each as JSON; while one chunk is worked on the next two are read, one after the other.
 * Whoever takes them parses them when their turn comes: the connection reads on meanwhile.
 *
 * @param readChunk reads so many customers after one of them at most
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
    // Where fewer came than were asked for, there are no more, or their bytes are the limit.
    customers = Math.min(share, 2 * chunk.length, CHUNK.customersMax);
    return readChunk((JSON.parse(last) as { customerId: string }).customerId, customers);
  };
  const ahead: Promise<string[]>[] = [];
  const readOn = (reading: Promise<string[]>): void => {
    ahead.push(reading);
    // Whoever ends before it is awaited does not leave a failure that nobody hears of.
    reading.catch(() => undefined);
  };
  readOn(readChunk(afterCustomerId, customers));
  readOn(after(ahead[0]!));
  for (;;) {
    const chunk = await ahead.shift()!;
    if (chunk.length === 0) return;
    readOn(after(ahead[0]!));
    yield chunk;
  }
}
