/** One way of doing the work; it runs in turn with the others, so that disturbances of the machine affect all. */
export interface Variant<T = unknown> {
  name: string;
  /** Makes the input of a round, outside of the measured time. */
  prepare(): T | Promise<T>;
  /** Does the work of a round and returns how many units it was. May add the duration of each step (ms) to `latencies`. */
  run(input: T, latencies: number[]): Promise<number>;
  /** Ends what `prepare` began, outside of the measured time. */
  after?(): Promise<void>;
}

export interface Latency {
  /** Milliseconds. */
  p50: number;
  p99: number;
}

export interface Measured {
  name: string;
  /** Units per second: the median of the rounds. */
  rate: number;
  rates: number[];
  /** Over the steps of all rounds that count; null if the variant recorded none. */
  latency: Latency | null;
}

/**
 * Runs the variants in alternating rounds, after round 0, which does not count. Every second round has the reverse order, so that no variant
 * always follows the same other one. `settle` is called before each round.
 */
export async function measure<T>(
  variants: Variant<T>[],
  rounds: number,
  settle: (round: number) => Promise<void> = () => Promise.resolve(),
): Promise<Measured[]> {
  const rates = variants.map((): number[] => []);
  const latencies = variants.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    await settle(round);
    const order = [...variants.entries()];
    for (const [index, variant] of round % 2 === 0 ? order : order.reverse()) {
      const input = await variant.prepare();
      const recorded: number[] = [];
      const startedAt = performance.now();
      const units = await variant.run(input, recorded);
      const seconds = (performance.now() - startedAt) / 1_000;
      await variant.after?.();
      if (round === 0) continue;
      rates[index]?.push(units / seconds);
      for (const latency of recorded) latencies[index]?.push(latency);
    }
  }
  return variants.map(({ name }, index) => ({
    name,
    rate: median(rates[index] ?? []),
    rates: rates[index] ?? [],
    latency: latencyOf(latencies[index] ?? []),
  }));
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = NaN, high = NaN] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1], sorted[middle]];
  return (low + high) / 2;
}

export function latencyOf(values: number[]): Latency | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Distributes items to workers, each of which takes the next one when it is free; adds the duration of each to `latencies`. */
export async function drain<T, W>(
  items: T[],
  workers: W[],
  latencies: number[],
  work: (item: T, worker: W) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const takeAll = async (worker: W) => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) {
      const startedAt = performance.now();
      await work(item, worker);
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(workers.map(takeAll));
}
