/** The limits of a snapshot. They keep the memory and the time that any model costs the server within bounds. */
export const LIMITS = {
  /** Of the canonical JSON in UTF-8. */
  bytes: 1_048_576,
  /** Conditions within conditions, those on properties included. */
  conditionDepth: 32,
  /** Objects and arrays within each other: the condition depth, twice, and what surrounds it. */
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
  /** Values of an enum, of the list of a comparison, or of a score by value. */
  values: 1_000,
  nameLength: 256,
  messageLength: 1_000,
  count: 1_000_000_000,
  /** A number of different values remembers as many values as it is compared with. */
  distinctCount: 10_000,
  /** Ratios and differences within each other. */
  calculationDepth: 4,
  /** As many different values a ratio or a difference tells apart: what it is compared with does not say how many it takes. */
  distinctOperand: 1_000,
  /** A century. */
  days: 36_500,
  weight: 1_000_000_000,
} as const;

/**
 * How often time alone may move a customer on between two of its operations: lifecycle transitions, starts of journeys, raises of
 * signals. Every circle that time alone drives passes through one of them, so none goes round for ever. A move a day is below it for years.
 */
export const MOVES_BY_TIME_MAX = 1_000;

const KIB = 1024;
const MIB = KIB * KIB;

/** `512 bytes`, `18 KiB`, `3.9 MiB`: rounded up, so that a bound stays one. */
export function bytesInWords(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  if (bytes < MIB) return `${Math.ceil(bytes / KIB)} KiB`;
  return `${Math.ceil((bytes / MIB) * 10) / 10} MiB`;
}
