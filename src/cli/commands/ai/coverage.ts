import type { Snapshot } from "../../../model/snapshot/types.js";
import { UserError } from "../../core/errors.js";
import type { Out } from "../../output/out.js";
import { table } from "../../output/table.js";
import { distance, plural, printable } from "../../output/text.js";
import type { Arrivals } from "./arrivals.js";
import { eventUses } from "./event-uses.js";
import type { Facts } from "./facts.js";
import { modelFacts, placesOf } from "./model-facts.js";
import type { Sanitizer } from "./sanitizer.js";

interface CoveredEvent {
  event: string;
  readBy: string[];
  /** Null for one that never came; absent where that is not known. */
  lastAt?: string | null;
}

/** Which events the model declares, where it reads them, and what of them comes in; with what to do about it. */
export function coverageFacts(snapshot: Snapshot, arrivals: Arrivals | UserError, sanitizer: Sanitizer): Facts {
  const known = arrivals instanceof UserError ? null : arrivals;
  const events = [...eventUses(snapshot)]
    .map(([event, uses]): CoveredEvent => ({
      event,
      readBy: placesOf(uses),
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
  const violated = arrivals?.violations ?? [];
  return [
    ...never
      .filter(({ readBy }) => readBy.length > 0)
      .map(({ event, readBy }) => `Send ${event}: it never came, and ${readBy.join("; ")} wait for it.`),
    ...violated.map(
      ({ event, code, path, operations }) =>
        `Correct ${path} of ${event ?? "the traits"}: ${code} in ${plural(operations, "operation")}.`,
    ),
    ...(arrivals?.undeclared ?? []).map(
      (name) => `Declare ${name}, or correct its name where it is sent: it comes, and nothing can read it.`,
    ),
    ...never
      .filter(({ readBy }) => readBy.length === 0)
      .map(({ event }) => `Send ${event}, or take it out of the model: it never came, and nothing reads it.`),
    ...events
      .filter(({ lastAt, readBy }) => lastAt !== null && readBy.length === 0)
      .map(({ event }) => `Read ${event} in a condition, or take it out of the model: nothing reads it.`),
    ...missingIn(snapshot),
  ];
}

/** Of the questions that customer-success teams ask, those that the model has no answer to. */
function missingIn({ lifecycle, journeys, health, events, traits }: Snapshot): string[] {
  const fields = Object.values(events).flatMap(({ properties }) => Object.values(properties));
  return [
    ...(lifecycle === null ? ["Add a lifecycle: where customers stand is not derived."] : []),
    ...(journeys.length === 0
      ? ["Add a journey, such as onboarding: how far customers have come is not derived."]
      : []),
    ...(health === null ? ["Add a health score: who does badly is not derived."] : []),
    ...(Object.values(traits).some(({ type }) => type === "date")
      ? []
      : ["Send the date of renewal or of the trial's end as a trait: what is due is not known."]),
    ...(fields.some(({ type }) => type === "number")
      ? []
      : ["Send an amount or a number with an event, such as a payment's: how much is not known, only how often."]),
  ];
}

interface Coverage {
  events: CoveredEvent[];
  undeclared: string[] | null;
  arrivalsUnknown: string | null;
  plan: string[];
}

function inWords(out: Out, { events, undeclared, arrivalsUnknown, plan }: Coverage): string {
  const { bold } = out.style;
  const columns = [
    { title: "Event", value: ({ event }: CoveredEvent) => event, kept: true as const },
    { title: "Read by", value: ({ readBy }: CoveredEvent) => readBy.join("; ") || "nothing" },
    ...(arrivalsUnknown === null
      ? [
          {
            title: "Last",
            value: ({ lastAt }: CoveredEvent) => (lastAt ? distance(lastAt, out.now) : "never"),
            fixed: true as const,
          },
        ]
      : []),
  ];
  return [
    bold("Coverage"),
    events.length === 0 ? "The model declares no events." : table(out, columns, events),
    ...(arrivalsUnknown === null ? [] : [`What comes in is not known: ${printable(arrivalsUnknown)}.`]),
    ...(undeclared === null || undeclared.length === 0
      ? []
      : [`Not declared, but sent: ${undeclared.map(printable).join(", ")}.`]),
    "",
    bold("What to do"),
    ...(plan.length === 0
      ? ["Nothing: each event comes and is read."]
      : plan.map((one, index) => `${index + 1}. ${printable(one)}`)),
  ].join("\n");
}
