/** A JSON value. Customers' data are held as they came, never converted. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** An event of a customer. Instants are whole milliseconds since 1970 UTC; `seq` is the order of acceptance. */
export interface TrackOperation {
  kind: "track";
  seq: number;
  eventId: string;
  event: string;
  properties: Record<string, Json>;
  occurredAt: number;
  acceptedAt: number;
}

/** New values of some traits; null removes a trait. */
export interface IdentifyOperation {
  kind: "identify";
  seq: number;
  traits: Record<string, Json>;
  acceptedAt: number;
}

export type Operation = TrackOperation | IdentifyOperation;

/** An event that was evaluated before and is still retained. */
export interface HistoryEvent {
  seq: number;
  event: string;
  properties: Record<string, Json>;
  occurredAt: number;
}

/** The place of an event in a customer's order: by occurrence, and by acceptance where two occurred at one instant. */
export interface Order {
  occurredAt: number;
  seq: number;
}

/**
 * What is remembered of one stream of occurrences (an event, with or without a property condition): how many there were,
 * and the latest of them in order, as many as the model's conditions need.
 */
export interface StreamMemory {
  count: number;
  occurredAt: number[];
  seq: number[];
}

/** What the conditions of one model need to know of the past. */
export interface ConditionMemory {
  /** The hash of the model that the memory is for; null before anything is remembered. */
  model: string | null;
  /** Rebuilt for another version and not evaluated since: until then the due instant of the former version stands. */
  awaitsEvaluation: boolean;
  /** By the position of the stream in the model. */
  streams: StreamMemory[];
}

/** Everything that evaluation knows of a customer: plain JSON, whose size is bounded by the model and the traits. */
export interface CustomerState {
  customerId: string;
  createdAt: number;
  firstEvaluatedAt: number | null;
  /** The customer's clock: the latest instant of an evaluation. */
  evaluatedThrough: number | null;
  /** The latest occurrence of any event evaluated so far. */
  lastEventAt: number | null;
  /** The last track operation in order of acceptance, evaluated or still ahead. */
  lastTrack: { occurredAt: number; acceptedAt: number; seq: number } | null;
  traits: Record<string, Json>;
  /** The instants at which merged identifies await their evaluation, ascending. */
  traitsDueAt: number[];
  lifecycle: { state: string; enteredAt: number; cause: Order | null } | null;
  /** Present memberships only. */
  segments: Record<string, { enteredAt: number }>;
  memory: ConditionMemory;
  /** The earliest instant after the clock at which a condition changes by time alone. */
  timerDueAt: number | null;
  /** The earliest instant at which anything is to be evaluated without a new operation. */
  nextDueAt: number | null;
}

export type Cause = { kind: "event"; eventId: string } | { kind: "timer" } | { kind: "identify" };

export type Effect = { at: number; cause: Cause } & (
  | { kind: "transition"; from: string | null; to: string }
  /** A transition that was not taken, because its state had been held at this instant already. */
  | { kind: "blocked"; from: string; to: string }
  | { kind: "segmentEntered"; segment: string }
  | { kind: "segmentExited"; segment: string; enteredAt: number }
  | { kind: "emission"; type: string; source: "lifecycle" | "segment"; metadata: Record<string, Json> }
);

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** An effect as an item of the model states it; the evaluation adds instant and cause. */
export type EffectBody = DistributiveOmit<Effect, "at" | "cause">;
