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

/** What of a model's events has come to an environment, and what else has. */
export interface Arrivals {
  environment: string;
  /** When each declared event last happened; null for one that never came. */
  lastAt: Record<string, string | null>;
  /** Names that came in the last 30 days and the model does not declare. */
  undeclared: string[];
  violations: Pick<SchemaViolation, "configVersion" | "event" | "code" | "path" | "operations">[];
}

const ASKED_AT_ONCE = 8;
const VIOLATIONS_MAX = 50;

/** Where nobody is signed in, or the service is not there, what came is not known; a model can be looked at all the same. */
const UNKNOWN = /^(NOT_SIGNED_IN|PROJECT_REQUIRED|ORGANIZATION_REQUIRED|SERVICE_UNREACHABLE)$/;

/** What came to the environment; the failure where that cannot be known here. */
export async function readArrivals({ api, settings }: Context, snapshot: Snapshot): Promise<Arrivals | UserError> {
  const lastAt: Arrivals["lastAt"] = {};
  const readLast = async (type: string): Promise<void> => {
    const { data } = await readList<{ occurredAt: string }>(api, ["events"], { type, limit: 1 });
    lastAt[type] = data.data[0]?.occurredAt ?? null;
  };
  try {
    const diagnostics = await api.get<{ data: Finding[] }>(["diagnostics"], ["data"]);
    const violations = await readList<SchemaViolation>(api, ["schema-violations"], { limit: VIOLATIONS_MAX });
    const names = Object.keys(snapshot.events);
    for (let from = 0; from < names.length; from += ASKED_AT_ONCE) {
      await Promise.all(names.slice(from, from + ASKED_AT_ONCE).map(readLast));
    }
    return {
      environment: settings.environment,
      lastAt,
      undeclared: undeclaredIn(diagnostics.data.data).filter((name) => !Object.hasOwn(snapshot.events, name)),
      violations: violations.data.data,
    };
  } catch (error) {
    if (error instanceof UserError && UNKNOWN.test(error.code)) return error;
    throw error;
  }
}

/** The names that the service found; its active version may be another than the model here. */
function undeclaredIn(findings: readonly Finding[]): string[] {
  const details = findings.find(({ code }) => code === "EVENTS_UNDECLARED")?.details["events"];
  return Array.isArray(details) ? details.map((one) => String((one as { event?: unknown }).event)) : [];
}

interface CoveredEvent {
  event: string;
  readBy: string[];
  /** Whether it is there for people alone, and no condition is to read it. */
  recordOnly: boolean;
  /** Null for one that never came; absent where that is not known. */
  lastAt?: string | null;
}

/**
 * Which events the model declares, where it reads them, and what of them comes in; with what to do about it.
 * @param recordOnly the events that no condition is to read
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
  const unknown = arrivals instanceof UserError ? arrivals.message : null;
  const document = {
    events,
    undeclared: known?.undeclared ?? null,
    violations: known?.violations ?? null,
    arrivalsUnknown: unknown,
    plan: planFor(snapshot, events, known),
  };
  return {
    task: "suggest-events",
    document,
    text: (out) => inWords(out, document),
    sent: {
      model: modelFacts(snapshot, []),
      events,
      undeclared: sentArrivals?.undeclared ?? null,
      violations: sentArrivals?.violations ?? null,
      plan: planFor(snapshot, events, sentArrivals),
    },
  };
}

/** What came in, as it may be sent: names that are none may be anything. */
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

/** What to do, the most urgent first: an event that much depends on and never came is a hole in the model. */
function planFor(snapshot: Snapshot, events: readonly CoveredEvent[], arrivals: Arrivals | null): string[] {
  const never = events.filter(({ lastAt }) => lastAt === null);
  const isRead = ({ readBy }: CoveredEvent) => readBy.length > 0;
  const isUnread = (event: CoveredEvent) => !isRead(event) && !event.recordOnly;
  const wrong = ({ event, code, path, operations }: Arrivals["violations"][number]) =>
    `Correct ${path} of ${event ?? "the traits"}: ${code} in ${plural(operations, "operation")}.`;
  const undeclared = (name: string) =>
    `Declare ${name}, or correct its name where it is sent: it comes, and nothing can read it.`;
  return [
    ...never
      .filter(isRead)
      .map(({ event, readBy }) => `Send ${event}: it never came, and ${readBy.join("; ")} wait for it.`),
    ...(arrivals?.violations ?? []).map(wrong),
    ...(arrivals?.undeclared ?? []).map(undeclared),
    ...never
      .filter(isUnread)
      .map(({ event }) => `Send ${event}, or take it out of the model: it never came, and nothing reads it.`),
    ...never
      .filter((event) => !isRead(event) && event.recordOnly)
      .map(({ event }) => `Send ${event}, or take it out of the model: it never came.`),
    ...events
      .filter((event) => event.lastAt !== null && isUnread(event))
      .map(({ event }) => `Read ${event} in a condition, or take it out of the model: nothing reads it.`),
    ...missingIn(snapshot),
  ];
}

/** Of the questions that customer-success teams ask, those that the model has no answer to. */
function missingIn({ lifecycle, journeys, health, events, traits }: Snapshot): string[] {
  const fields = Object.values(events).flatMap(({ properties }) => Object.values(properties));
  const hasDate = Object.values(traits).some(({ type }) => type === "date");
  const hasNumber = fields.some(({ type }) => type === "number");
  const answered: [isAnswered: boolean, otherwise: string][] = [
    [lifecycle !== null, "Add a lifecycle: where customers stand is not derived."],
    [journeys.length > 0, "Add a journey, such as onboarding: how far customers have come is not derived."],
    [health !== null, "Add a health score: who does badly is not derived."],
    [hasDate, "Send the date of renewal or of the trial's end as a trait: what is due is not known."],
    [
      hasNumber,
      "Send an amount or a number with an event, such as a payment's: how much is not known, only how often.",
    ],
  ];
  return answered.filter(([isAnswered]) => !isAnswered).map(([, otherwise]) => otherwise);
}

interface Coverage {
  events: CoveredEvent[];
  undeclared: string[] | null;
  arrivalsUnknown: string | null;
  plan: string[];
}

function inWords(out: Out, { events, undeclared, arrivalsUnknown, plan }: Coverage): string {
  const { bold } = out.style;
  const columns: Column<CoveredEvent>[] = [
    { title: "Event", value: ({ event }) => event, kept: true },
    {
      title: "Read by",
      value: ({ readBy, recordOnly }) => readBy.join("; ") || (recordOnly ? "people alone" : "nothing"),
    },
  ];
  if (arrivalsUnknown === null) {
    columns.push({ title: "Last", value: ({ lastAt }) => (lastAt ? out.ago(lastAt) : "never"), fixed: true });
  }
  const names = (undeclared ?? []).map(printable).join(", ");
  const todo = plan.map((one, index) => `${index + 1}. ${printable(one)}`);
  return [
    bold("Coverage"),
    events.length === 0 ? "The model declares no events." : table(out, columns, events),
    ...(arrivalsUnknown === null ? [] : [`What comes in is not known: ${printable(arrivalsUnknown)}.`]),
    ...(names === "" ? [] : [`Not declared, but sent: ${names}.`]),
    "",
    bold("What to do"),
    ...(todo.length === 0 ? ["Nothing: each event comes and is read."] : todo),
  ].join("\n");
}
