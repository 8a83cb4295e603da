/** The limits of a snapshot. They bound the memory and the time that any model costs the server. */
export const LIMITS = {
  /** Of the canonical JSON in UTF-8. */
  bytes: 1_048_576,
  /** Nesting of conditions, including those on properties. */
  conditionDepth: 32,
  /** Nesting of objects and arrays: twice the condition depth, and what surrounds it. */
  nesting: 100,
  events: 1_000,
  properties: 1_000,
  traits: 1_000,
  segments: 500,
  states: 100,
  journeys: 100,
  /** Of one journey. */
  steps: 100,
  rules: 500,
  signals: 500,
  components: 100,
  bands: 100,
  /** Traits that a display shows. */
  shown: 20,
  /** Steps of a score. */
  scoreSteps: 100,
  /** Values of an enum, of a comparison with a list, or of a score by value. */
  values: 1_000,
  nameLength: 256,
  messageLength: 1_000,
  count: 1_000_000_000,
  /** A state stores as many distinct values as their number is compared with. */
  distinctCount: 10_000,
  /** Nesting of ratios and differences. */
  calculationDepth: 4,
  /** Up to how many distinct values a ratio or a difference counts: what it is compared with does not say how many it needs. */
  distinctOperand: 1_000,
  /** A century. */
  days: 36_500,
  weight: 1_000_000_000,
} as const;

/**
 * How often time alone may move a customer between two of its operations. Moves are lifecycle transitions, starts of journeys and raises of
 * signals: every cycle driven by time alone passes through one of them, so none runs endlessly. One move a day stays below this for years.
 */
export const MOVES_BY_TIME_MAX = 1_000;

const KIB = 1024;
const MIB = KIB * KIB;

/** `512 bytes`, `18 KiB`, `3.9 MiB`: rounded up, so that an upper bound remains one. */
export function bytesInWords(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  if (bytes < MIB) return `${Math.ceil(bytes / KIB)} KiB`;
  return `${Math.ceil((bytes / MIB) * 10) / 10} MiB`;
}
