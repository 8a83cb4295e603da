/**
 * Seeded random numbers. Every customer and every subject draws from a separate stream, named by labels, so that a change to the simulation
 * of one customer leaves the histories of the others unchanged.
 */

/** Draws of one stream. The same seed and labels give the same draws on every machine: only 32-bit integer arithmetic decides. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, ...labels: (string | number)[]) {
    const text = [seed, ...labels].join("/");
    this.#a = hash(text, 0x811c9dc5);
    this.#b = hash(text, 0x9e3779b9);
    this.#c = hash(text, 0x85ebca6b);
    // The first draws of sfc32 still resemble the seed.
    for (let round = 0; round < 12; round++) this.#draw();
  }

  /** sfc32 by Chris Doty-Humphrey, public domain: 32 bits a draw, period of about 2^128. */
  #draw(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }

  /** A number in [0, 1). */
  unit(): number {
    return this.#draw() / 4294967296;
  }

  /** A number in [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.unit();
  }

  /** A whole number in [low, high], both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** One of the items, of which there must be at least one. */
  pick<T>(items: readonly T[]): T {
    return items[this.whole(0, items.length - 1)]!;
  }

  /** One of the keys, with a probability in proportion to its weight. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][];
    let rest = this.unit() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    return entries.at(-1)![0];
  }

  /** Approximates a normal distribution by the sum of four draws, so the result is within 3.5 deviations of the mean. */
  around(mean: number, deviation: number): number {
    const sum = this.unit() + this.unit() + this.unit() + this.unit();
    return mean + (sum - 2) * deviation * Math.sqrt(3);
  }

  /** The number of successes in independent trials: a count with this mean, often zero for small means. */
  count(mean: number): number {
    const whole = Math.floor(mean * 2);
    let hits = this.chance(mean - whole / 2) ? 1 : 0;
    for (let trial = 0; trial < whole; trial++) if (this.chance(0.5)) hits++;
    return hits;
  }
}

/** FNV-1a with a chosen basis and a final mix, so that texts that differ in one character share no bits. */
function hash(text: string, basis: number): number {
  let value = basis;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
