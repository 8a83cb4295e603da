import { parseDuration, parseInstant } from "../model/snapshot/duration.js";
import { nearest } from "../model/snapshot/suggestion.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { INSTANTS_MAX, type Outcome, type BacktestQuestion } from "./samples.js";

/** The question of a backtest, as people and the API write it. */
export interface QuestionInput {
  /** `state:<id>`, `event:<name>` or `segment:<id>`. */
  outcome: string;
  /** A duration as in models, such as `60d`. */
  within: string;
  /** A duration; `7d` by default. */
  every?: string;
  /** ISO 8601; a date means its beginning in UTC. By default, `to` is the end of the known history, and `from` is the start of the UTC day
   * 365 days before `to`. */
  from?: string;
  to?: string;
}

/** `then`: each trait counts from its acceptance on; `now`: the present traits count from the beginning, which looks ahead. */
export type TraitsAsOf = "then" | "now";

/** A mistake in a question. The message and the fix are sentences. */
export class QuestionProblem extends Error {
  override readonly name = "QuestionProblem";

  /** @param path the member of `QuestionInput` */
  constructor(
    readonly path: keyof QuestionInput,
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

const DAY = 86_400_000;
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
export const EVERY_DEFAULT = "7d";

/**
 * Parses and checks a question.
 *
 * @param end the end of the known history, in milliseconds since the epoch
 * @param snapshot the judged model, which decides the outcome
 * @throws {QuestionProblem}
 */
export function readQuestion(words: QuestionInput, end: number, snapshot: Snapshot): BacktestQuestion {
  const outcome = readOutcome(words.outcome, snapshot);
  const within = durationOf("within", words.within);
  const every = durationOf("every", words.every ?? EVERY_DEFAULT);
  const to = instantOf("to", words.to) ?? end;
  const from = instantOf("from", words.from) ?? Math.floor((to - 365 * DAY) / DAY) * DAY;
  if (to > end) {
    throw new QuestionProblem("to", `It is after ${iso(end)}, where the known history ends.`, "Give an earlier one.");
  }
  if (from > to) {
    throw new QuestionProblem(
      "from",
      `${iso(from)} is after ${iso(to)}, the end of the range.`,
      "Give an earlier one.",
    );
  }
  if (from < EARLIEST) {
    const path = words.from === undefined ? "to" : "from";
    throw new QuestionProblem(path, "The range begins before the year 1.", "Give a later one.");
  }
  if (from + within > end) {
    const what = `No instant from ${iso(from)} on is followed by ${words.within} of known history, which ends at ${iso(end)}.`;
    throw new QuestionProblem("within", what, "Give a shorter one, or begin earlier.");
  }
  const instants = Math.floor((to - from) / every) + 1;
  if (instants > INSTANTS_MAX) {
    const what = `It makes ${instants} instants; at most ${INSTANTS_MAX} are allowed.`;
    throw new QuestionProblem("every", what, "Give a longer one, or begin later.");
  }
  return { outcome, within, every, from, to, end };
}

/** Parses the question in the answer of a service, which has checked it. */
export function questionOfAnswer(asked: Required<QuestionInput> & { end: string }): BacktestQuestion {
  const { outcome, within, every, from, to, end } = asked;
  const colon = outcome.indexOf(":");
  return {
    outcome: { kind: outcome.slice(0, colon) as Outcome["kind"], id: outcome.slice(colon + 1) },
    within: parseDuration(within),
    every: parseDuration(every),
    from: Date.parse(from),
    to: Date.parse(to),
    end: Date.parse(end),
  };
}

function readOutcome(text: string, { lifecycle, segments, events }: Snapshot): Outcome {
  const [, kind, id] = /^(state|event|segment):(.+)$/s.exec(text) ?? [];
  if (kind === undefined || id === undefined) {
    const what = `${JSON.stringify(text)} is not an outcome.`;
    throw new QuestionProblem("outcome", what, "Write state:<id>, event:<name> or segment:<id>.");
  }
  const known = {
    state: lifecycle?.states.map(({ name }) => name) ?? [],
    event: Object.keys(events),
    segment: segments.map((segment) => segment.id),
  }[kind as Outcome["kind"]];
  if (known.includes(id)) return { kind: kind as Outcome["kind"], id };
  const meant = nearest(id, known);
  const did = meant === undefined ? "" : `; did you mean ${kind}:${meant}?`;
  const fix = known.length === 0 ? `The model has no ${kind}: choose another outcome.` : `It has ${listed(known)}.`;
  throw new QuestionProblem("outcome", `The model has no ${kind} ${JSON.stringify(id)}${did || "."}`, fix);
}

/** The most names that a fix lists. */
const LISTED = 20;

function listed(names: readonly string[]): string {
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : "";
  return names.slice(0, LISTED).join(", ") + more;
}

function durationOf(path: "within" | "every", text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const fix = 'Write a whole number and a unit, such as "12h", "7d" or "8w", of at most "3650d".';
    throw new QuestionProblem(path, `${JSON.stringify(text)} is not a valid duration.`, fix);
  }
}

function instantOf(path: "from" | "to", text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant !== undefined) return instant;
  const fix = "Write a date or a date-time with a zone, such as 2026-03-01 or 2026-03-01T09:00:00Z.";
  throw new QuestionProblem(path, `${JSON.stringify(text)} is not an instant.`, fix);
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
