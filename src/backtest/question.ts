import { parseDuration, parseInstant } from "../model/snapshot/duration.js";
import { nearest } from "../model/snapshot/suggestion.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { INSTANTS_MAX, type Outcome, type BacktestQuestion } from "./samples.js";

/** What a backtest asks, as people and the API write it. */
export interface QuestionWords {
  /** `state:<id>`, `event:<name>` or `segment:<id>`. */
  outcome: string;
  /** A duration as in models, such as `60d`. */
  within: string;
  /** The same; `7d` unless given. */
  every?: string;
  /** ISO 8601, a date being its beginning in UTC. Unless given, `to` is the end of what is known, and `from` is the start of the UTC day
   * 365 days before `to`. */
  from?: string;
  to?: string;
}

/** Whether traits hold from their acceptance on, or the present ones from the beginning, which looks ahead. */
export type TraitsOf = "then" | "now";

/** What is wrong with a question. The message and the fix are sentences. */
export class QuestionProblem extends Error {
  override readonly name = "QuestionProblem";

  /** @param path the member of `QuestionWords` */
  constructor(
    readonly path: keyof QuestionWords,
    message: string,
    readonly fix: string,
  ) {
    super(message);
  }
}

const DAY = 86_400_000;
/** What happened before is of no calendar that people ask in. */
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
export const EVERY_DEFAULT = "7d";

/**
 * The question that words ask.
 *
 * @param end up to when it is known what happened, in milliseconds
 * @param snapshot of the judged model, which decides the outcome
 * @throws {QuestionProblem}
 */
export function readQuestion(words: QuestionWords, end: number, snapshot: Snapshot): BacktestQuestion {
  const outcome = readOutcome(words.outcome, snapshot);
  const within = durationOf("within", words.within);
  const every = durationOf("every", words.every ?? EVERY_DEFAULT);
  const to = instantOf("to", words.to) ?? end;
  const from = instantOf("from", words.from) ?? Math.floor((to - 365 * DAY) / DAY) * DAY;
  if (to > end) {
    throw new QuestionProblem("to", `It lies after ${iso(end)}, the last that is known.`, "Give an earlier one.");
  }
  if (from > to) {
    throw new QuestionProblem(
      "from",
      `${iso(from)} lies after ${iso(to)}, the end of the range.`,
      "Give an earlier one.",
    );
  }
  if (from < EARLIEST) {
    const path = words.from === undefined ? "to" : "from";
    throw new QuestionProblem(path, "The range begins before the year 1.", "Give a later one.");
  }
  if (from + within > end) {
    const what = `No instant from ${iso(from)} on has all of ${words.within} after it known: that ends at ${iso(end)}.`;
    throw new QuestionProblem("within", what, "Give a shorter one, or begin earlier.");
  }
  const instants = Math.floor((to - from) / every) + 1;
  if (instants > INSTANTS_MAX) {
    const what = `It makes ${instants} instants to look at; there may be ${INSTANTS_MAX}.`;
    throw new QuestionProblem("every", what, "Give a longer one, or begin later.");
  }
  return { outcome, within, every, from, to, end };
}

/** The question of an answer, which was read when it was asked. */
export function askedQuestion(asked: Required<QuestionWords> & { end: string }): BacktestQuestion {
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
    const what = `${JSON.stringify(text)} is no outcome.`;
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

/** How many names a fix lists. */
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
    throw new QuestionProblem(path, `${JSON.stringify(text)} is no duration that can be used.`, fix);
  }
}

function instantOf(path: "from" | "to", text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text);
  if (instant !== undefined) return instant;
  const fix = "Write a date or a date-time with a zone, such as 2026-03-01 or 2026-03-01T09:00:00Z.";
  throw new QuestionProblem(path, `${JSON.stringify(text)} is no instant.`, fix);
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
