/** One way of doing the work; it is run in turn with the others, so that whatever disturbs the machine disturbs all. */
export interface Variant<T = unknown> {
  name: string;
  /** Makes the input of a round, outside of the time that counts. */
  prepare(): T;
  /** Does the work of a round and answers how many units that was. */
  run(input: T): Promise<number>;
}

export interface Measured {
  name: string;
  /** Units per second: the median of the rounds. */
  rate: number;
  rates: number[];
}

/** Runs the variants in alternating rounds, after one round that does not count. */
export async function measure<T>(variants: Variant<T>[], rounds: number): Promise<Measured[]> {
  const rates = variants.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, variant] of variants.entries()) {
      const input = variant.prepare();
      const startedAt = performance.now();
      const units = await variant.run(input);
      const seconds = (performance.now() - startedAt) / 1_000;
      if (round > 0) rates[index]?.push(units / seconds);
    }
  }
  return variants.map(({ name }, index) => ({ name, rate: median(rates[index] ?? []), rates: rates[index] ?? [] }));
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = NaN, high = NaN] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1], sorted[middle]];
  return (low + high) / 2;
}

/** Takes each item once, by `workers` at a time. */
export async function drain<T>(items: T[], workers: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.slice();
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
