import { ApiError, type ErrorDetail } from "../http/errors.js";
import { parseTimestamp, timestampProblem } from "../ingestion/timestamp.js";
import { isDuration, parseDuration } from "../model/snapshot/duration.js";

/** The clock of the local engine, in whole milliseconds since the epoch. It never goes back. */
export interface Clock {
  readonly kind: "real" | "test";
  now(): number;
}

/** The machine's clock. If that is set back, time stands still until it has caught up. */
export class RealClock implements Clock {
  readonly kind = "real";
  #latest = -Infinity;

  now(): number {
    this.#latest = Math.max(this.#latest, Date.now());
    return this.#latest;
  }
}

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  readonly kind = "test";

  /** @param instant the initial time, in milliseconds since the epoch */
  constructor(private instant: number) {}

  /** A clock that is set to an ISO 8601 instant. Throws a RangeError that says what is wrong with an invalid text. */
  static at(text: string): TestClock {
    return new TestClock(parseTimestamp(text).milliseconds);
  }

  now(): number {
    return this.instant;
  }

  /** @param instant not before the present one */
  moveTo(instant: number): void {
    this.instant = instant;
  }
}

const END_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Moves a test clock by the body of POST /clock: `{"advance": "7d"}` or `{"to": "<ISO 8601 instant>"}`.
 * @throws {ApiError} VALIDATION_ERROR, also for the real clock and for an instant that has passed
 */
export function moveClock(clock: Clock, body: unknown): void {
  if (!(clock instanceof TestClock)) {
    throw invalid({
      message: "The clock is the machine's and cannot be moved.",
      fix: "Start `svc dev --clock <ISO 8601 instant>` for a clock that only moves when told to.",
    });
  }
  const to = target(clock.now(), body);
  if (to < clock.now()) {
    throw invalid({
      message: "The clock is never set back.",
      field: "to",
      reason: `It is ${new Date(clock.now()).toISOString()}.`,
      fix: "Send a later instant, or start again with another --clock.",
    });
  }
  if (to > END_MS) throw invalid({ message: "The clock ends with the year 9999.", fix: "Advance it by less." });
  clock.moveTo(to);
}

function target(now: number, body: unknown): number {
  const members = typeof body === "object" && body !== null && !Array.isArray(body) ? Object.entries(body) : [];
  const [name, value] = members[0] ?? [];
  if (members.length !== 1 || (name !== "advance" && name !== "to")) {
    throw invalid({
      message: "The body must have one member, `advance` or `to`.",
      fix: 'Send {"advance": "7d"} or {"to": "2026-03-02T10:00:00Z"}.',
    });
  }
  if (name === "advance") {
    if (typeof value === "string" && isDuration(value)) return now + parseDuration(value);
    throw invalid({
      message: "`advance` is not a duration.",
      field: "advance",
      fix: 'Send a whole number and m, h, d or w, for example "12h" or "7d"; for seconds send `to`.',
    });
  }
  const reason = typeof value === "string" ? timestampProblem(value) : "It is not a text.";
  if (reason === null) return parseTimestamp(value as string).milliseconds;
  throw invalid({
    message: "`to` is not a valid timestamp.",
    field: "to",
    reason,
    fix: "Send ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z.",
  });
}

function invalid(detail: ErrorDetail): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", detail);
}
