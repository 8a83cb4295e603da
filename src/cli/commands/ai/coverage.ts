import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Finding, SchemaViolation } from "../../../http/admin/answers.js";
import { readList } from "../../client/pages.js";
import type { Context } from "../../core/command.js";
import { UserError } from "../../core/errors.js";
import type { Out } from "../../output/out.js";
import { type Column, table } from "../../output/table.js";
import { plural, printable } from "../../../words/text.js";
import type { Facts } from "./tell.js";
import { eventUses } from "./event-uses.js";
import { modelFacts, placesOf } from "./model-facts.js";
import type { Sanitizer } from "./sanitizer.js";

/** Which of a model's events an environment received, and what else. */
export interface Arrivals {
  /** When each declared event last happened, in the future if all of its events are dated ahead; null for one that was never received. */
  lastAt: Record<string, string | null>;
  /** Event names received in the last 30 days that the model does not declare. */
  undeclared: string[];
  violations: Pick<SchemaViolation, "configVersion" | "event" | "code" | "path" | "operations">[];
}

const ASKED_AT_ONCE = 8;
const VIOLATIONS_MAX = 50;

/** Failures after which the model can be examined without knowing what was received: not signed in, or no service. */
const UNKNOWN = /^(NOT_SIGNED_IN|PROJECT_REQUIRED|ORGANIZATION_REQUIRED|SERVICE_UNREACHABLE)$/;

/** What the environment received; the failure if that cannot be known. */
export async function readArrivals({ api, out }: Context, snapshot: Snapshot): Promise<Arrivals | UserError> {
  const lastAt: Arrivals["lastAt"] = {};
  const readLast = async (type: string): Promise<void> => {
    const readOne = async (filter: object) => {
      const { data } = await readList<{ occurredAt: string }>(api, ["events"], { type, ...filter, limit: 1 });
      return data.data[0]?.occurredAt ?? null;
    };
    const last = await readOne({});
    // An event that is dated ahead waits for its time, and would hide when one last happened.
    lastAt[type] = last !== null && isAhead(out, last) ? ((await readOne({ status: "processed" })) ?? last) : last;
  };
  try {
    const diagnostics = await api.get<{ data: Finding[] }>(["diagnostics"], ["data"]);
    const violations = await readList<SchemaViolation>(api, ["schema-violations"], { limit: VIOLATIONS_MAX });
    const names = Object.keys(snapshot.events);
    for (let from = 0; from < names.length; from += ASKED_AT_ONCE) {
      await Promise.all(names.slice(from, from + ASKED_AT_ONCE).map(readLast));
    }
    return {
      lastAt,
      undeclared: undeclaredIn(diagnostics.data.data).filter((name) => !Object.hasOwn(snapshot.events, name)),
      violations: violations.data.data,
    };
  } catch (error) {
    if (error instanceof UserError && UNKNOWN.test(error.code)) return error;
    throw error;
  }
}

const isAhead = ({ now }: Out, iso: string) => Date.parse(iso) > now;

/** The undeclared names that the service found, by its active version, which may differ from the local model. */
function undeclaredIn(findings: readonly Finding[]): string[] {
  const details = findings.find(({ code }) => code === "EVENTS_UNDECLARED")?.details["events"];
  return Array.isArray(details) ? details.map((one) => String((one as { event?: unknown }).event)) : [];
}

interface CoveredEvent {
  event: string;
  readBy: string[];
  /** Whether it is declared for people only, and no condition is meant to read it. */
  recordOnly: boolean;
  /** Null if it was never received; absent if that is not known. */
  lastAt?: string | null;
}

/**
 * Which events the model declares, where it reads them, which are received, and what to do about it.
 * @param recordOnly the events that no condition is meant to read
 */
export function coverageFacts(
  snapshot: Snapshot,
  arrivals: Arrivals | UserError,
  sanitizer: Sanitizer,
  recordOnly: readonly string[] = [],
): Facts {
  const known = arrivals instanceof UserError ? null : arrivals;
  const events = [...eventUses(snapshot)]
    .map(([event, uses]): CoveredEvent => ({
      event,
      readBy: placesOf(uses),
      recordOnly: recordOnly.includes(event),
      ...(known && { lastAt: known.lastAt[event] ?? null }),
    }))
    .sort((a, b) => b.readBy.length - a.readBy.length);
  const sentArrivals = known && sentOf(known, sanitizer);
  const plan = planFor(snapshot, events, known);
  return {
    task: "suggest-events",
    document: {
      events,
      undeclared: known?.undeclared ?? null,
      violations: known?.violations ?? null,
      arrivalsUnknown: arrivals instanceof UserError ? arrivals.message : null,
      plan,
    },
    text: (out) => inWords(out, events, arrivals, plan),
    sent: {
      model: modelFacts(snapshot, []),
      events,
      undeclared: sentArrivals?.undeclared ?? null,
      violations: sentArrivals?.violations ?? null,
      plan: planFor(snapshot, events, sentArrivals),
    },
  };
}

/** The arrivals as they may be sent: text that does not look like a name is withheld, as it may be anything. */
function sentOf(arrivals: Arrivals, sanitizer: Sanitizer): Arrivals {
  return {
    ...arrivals,
    undeclared: arrivals.undeclared.map((name) => sanitizer.name(name)),
    violations: arrivals.violations.map(({ configVersion, event, code, path, operations }) => ({
      configVersion,
      event: event === null ? null : sanitizer.name(event),
      code,
      path: sanitizer.name(path),
      operations,
    })),
  };
}

/** What to do, the most urgent first: an event that much depends on and that was never received is a hole in the model. */
function planFor(snapshot: Snapshot, events: readonly CoveredEvent[], arrivals: Arrivals | null): string[] {
  const never = events.filter(({ lastAt }) => lastAt === null);
  const isRead = ({ readBy }: CoveredEvent) => readBy.length > 0;
  const isUnread = (event: CoveredEvent) => !isRead(event) && !event.recordOnly;
  const wrong = ({ event, code, path, operations }: Arrivals["violations"][number]) =>
    `Correct ${path} of ${event ?? "the traits"}: ${code} in ${plural(operations, "operation")}.`;
  const undeclared = (name: string) =>
    `Declare ${name}, or correct its name where it is sent: it is received, and nothing can read it.`;
  return [
    ...never
      .filter(isRead)
      .map(({ event, readBy }) => `Send ${event}: it was never received, and these wait for it: ${readBy.join("; ")}.`),
    ...(arrivals?.violations ?? []).map(wrong),
    ...(arrivals?.undeclared ?? []).map(undeclared),
    ...never
      .filter(isUnread)
      .map(({ event }) => `Send ${event}, or remove it from the model: it was never received, and nothing reads it.`),
    ...never
      .filter((event) => !isRead(event) && event.recordOnly)
      .map(({ event }) => `Send ${event}, or remove it from the model: it was never received.`),
    ...events
      .filter((event) => event.lastAt !== null && isUnread(event))
      .map(({ event }) => `Read ${event} in a condition, or remove it from the model: nothing reads it.`),
    ...missingIn(snapshot),
  ];
}

/** The usual questions of customer-success teams that the model cannot answer. */
function missingIn({ lifecycle, journeys, health, events, traits }: Snapshot): string[] {
  const fields = Object.values(events).flatMap(({ properties }) => Object.values(properties));
  const hasDate = Object.values(traits).some(({ type }) => type === "date");
  const hasNumber = fields.some(({ type }) => type === "number");
  const answered: [isAnswered: boolean, otherwise: string][] = [
    [lifecycle !== null, "Add a lifecycle: the model does not derive where customers stand."],
    [journeys.length > 0, "Add a journey, such as onboarding: the model does not derive customers' progress."],
    [health !== null, "Add a health score: the model does not derive which customers do badly."],
    [hasDate, "Send the date of renewal or of the trial's end as a trait: due dates are not known."],
    [
      hasNumber,
      "Send an amount or a number with an event, such as a payment's: only how often is known, not how much.",
    ],
  ];
  return answered.filter(([isAnswered]) => !isAnswered).map(([, otherwise]) => otherwise);
}

function inWords(out: Out, events: CoveredEvent[], arrivals: Arrivals | UserError, plan: string[]): string {
  const { bold } = out.style;
  const columns: Column<CoveredEvent>[] = [
    { title: "Event", value: ({ event }) => event, kept: true },
    {
      title: "Read by",
      value: ({ readBy, recordOnly }) => readBy.join("; ") || (recordOnly ? "people only" : "nothing"),
    },
  ];
  const isUnknown = arrivals instanceof UserError;
  if (!isUnknown) {
    const last = (at: string) => (isAhead(out, at) ? `not yet, dated ${out.ago(at)}` : out.ago(at));
    columns.push({ title: "Last happened", value: ({ lastAt }) => (lastAt ? last(lastAt) : "never"), fixed: true });
  }
  const names = (isUnknown ? [] : arrivals.undeclared).map(printable).join(", ");
  const todo = plan.map((one, index) => `${index + 1}. ${printable(one)}`);
  return [
    bold("Coverage"),
    events.length === 0 ? "The model declares no events." : table(out, columns, events),
    ...(isUnknown ? [`What is received is not known: ${printable(arrivals.message)}.`] : []),
    ...(names === "" ? [] : [`Not declared, but sent: ${names}.`]),
    "",
    bold("What to do"),
    ...(todo.length === 0 ? ["Nothing: each event is received and read."] : todo),
  ].join("\n");
}
