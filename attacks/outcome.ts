/** The outcome of an attack, and whether the service held. */
import type { Figures } from "./observer/figures.js";
import type { Tally } from "./tally.js";

/** Times from when the neighbour's events were due until they were visible in its customers, in ms. */
export interface Visible {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export interface Attacked {
  name: string;
  what: string;
  requests: number;
  bytes: number;
  answers: Record<string, number>;
  breaches: string[];
}

export interface Outcome extends Attacked {
  seconds: number;
  /** Before the attack, and during it; null if no event was seen. */
  quiet: Visible | null;
  during: Visible | null;
  /** Counts of wrong answers to the neighbour, by kind. */
  refused: Record<string, number>;
  /** Its events that were not evaluated exactly once in the end. */
  notOnce: number;
  longestBlockMs: number;
  unready: Record<string, number>;
  memory: Figures["memory"];
  /** Restarts of the worker, and of the whole process. */
  restarts: number;
  /** What did not hold; empty if everything did. */
  broken: string[];
}

/** Limit of the neighbour's waiting time. */
export const P99_MS_MAX = 1_000;
/** Goal for blocks of an event loop; the limit is higher, because the probe also waits for the processor. */
export const BLOCK_MS_GOAL = 50;
const BLOCK_MS_MAX = 250;

export function attackedBy(name: string, what: string, tally: Tally): Attacked {
  const { requests, bytes, answers, breaches } = tally;
  return { name, what, requests, bytes, answers: Object.fromEntries(answers), breaches: [...breaches] };
}

export function visibleOf({ latencies }: Pick<Figures, "latencies">): Visible | null {
  if (latencies.length === 0) return null;
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** What did not hold, in words; waiting times count only for a `single` attack. */
export function outcomeViolations(outcome: Omit<Outcome, "broken">, single: boolean): string[] {
  const { during, refused, notOnce, restarts, longestBlockMs, unready, breaches } = outcome;
  const total = (of: Record<string, number>) => Object.values(of).reduce((sum, times) => sum + times, 0);
  return [
    ...breaches,
    ...(during === null ? ["no event of the neighbour was seen"] : []),
    ...(single && during !== null && during.p99 >= P99_MS_MAX ? [`p99 of the neighbour ${inSeconds(during.p99)}`] : []),
    ...(notOnce > 0 ? [`${notOnce} events of the neighbour not evaluated exactly once`] : []),
    ...(restarts > 0 ? [`${restarts} restarts`] : []),
    ...(total(refused) > 0 ? [`${total(refused)} requests of the neighbour refused`] : []),
    ...(total(unready) > 0 ? [`/readyz failed ${total(unready)} times`] : []),
    ...(single && longestBlockMs >= BLOCK_MS_MAX ? [`blocked for ${inSeconds(longestBlockMs)}`] : []),
  ];
}

export function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
