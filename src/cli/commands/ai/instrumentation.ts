import type { Snapshot } from "../../../model/snapshot/types.js";
import { plural } from "../../output/text.js";
import { type EventUse, eventUses, type ReadingPart, type TraitUse, traitUses } from "./event-uses.js";
import { JAVASCRIPT, type Language, PYTHON } from "./instrumentation-calls.js";
import { type Framework, isNode } from "./instrumentation-frameworks.js";
import { NODE_SETUPS, type Setup } from "./instrumentation-node.js";
import { PYTHON_SETUPS } from "./instrumentation-python.js";
import { block, code } from "./tell.js";

export { detectFramework, FRAMEWORKS } from "./instrumentation-frameworks.js";
export type { Framework } from "./instrumentation-frameworks.js";

/** What a use of each part weighs: where a customer stands is asked first, and most is built upon it. */
const WEIGHTS: Readonly<Record<ReadingPart, number>> = {
  lifecycle: 8,
  health: 4,
  journey: 4,
  signal: 4,
  rule: 3,
  segment: 2,
};

const READS: Readonly<Record<ReadingPart, string>> = {
  lifecycle: "the lifecycle",
  journey: "the journey",
  segment: "the segment",
  health: "the health component",
  rule: "the rule",
  signal: "the signal",
};

/**
 * What a backend engineer does so that the model gets what it reads: Markdown with the client's setup in the framework's own way, a
 * handler, a call for each event, those first on which most of the model depends, a call for the traits, and how to see that it arrives.
 * The same model gives the same text.
 */
export function instrumentationPlan(snapshot: Snapshot, framework: Framework): string {
  const language = isNode(framework) ? JAVASCRIPT : PYTHON;
  const setup = isNode(framework) ? NODE_SETUPS[framework] : PYTHON_SETUPS[framework];
  const events = byImportance(snapshot);
  const sections = [
    "# Instrumentation plan",
    introduction(snapshot),
    ...clientSection(setup, language),
    ...handlerSection(setup, language, snapshot, events[0]?.event ?? "signed_up"),
    ...(events.length === 0 ? [] : eventsSection(snapshot, events, language)),
    ...traitsSection(snapshot, language),
    ...checkSection(events[0]?.event),
  ];
  return `${sections.join("\n\n")}\n`;
}

interface Ranked {
  event: string;
  uses: readonly EventUse[];
  weight: number;
}

/** The events, those first on which most depends; those of equal weight by name. */
function byImportance(snapshot: Snapshot): Ranked[] {
  return [...eventUses(snapshot)]
    .map(([event, uses]) => ({ event, uses, weight: uses.reduce((sum, { part }) => sum + WEIGHTS[part], 0) }))
    .sort((a, b) => b.weight - a.weight || (a.event < b.event ? -1 : 1));
}

function introduction({ events, traits, strictSchema }: Snapshot): string {
  const counted = `${plural(Object.keys(events).length, "event")} and ${plural(Object.keys(traits).length, "trait")}`;
  const others = strictSchema
    ? "It is strict: what is not declared, or does not fit, is refused."
    : "It is not strict: what is not declared is accepted as well, and counted as a violation.";
  return `The model declares ${counted}. ${others} Send from your backend, never from a browser: the key may write events.`;
}

function clientSection({ install, files, ending }: Setup, language: Language): string[] {
  const [client] = files([]);
  return [
    "## 1. Set up the client, once",
    install,
    "Set `SVC_API_URL` to the address of the service, without `/v1`, and `SVC_API_KEY` to a key of the environment that is meant: `svc keys create --name backend --env test` makes one. It belongs into your secrets, not into the code.",
    `${code(client!.path)}:`,
    block(language.name, client!.text),
    `${ending} What waits is in memory until then.`,
  ];
}

function handlerSection({ files }: Setup, language: Language, { events }: Snapshot, event: string): string[] {
  const [, handler] = files(language.track(event, events[event]?.properties ?? {}));
  return [
    "## 2. Send from a handler",
    `Call the client right after your own data is stored, with what was stored. This is complete; ${code("save")} stands for your code. ${code(handler!.path)}:`,
    block(language.name, handler!.text),
    "The customer's id is that of the account in your system, and the same everywhere: events of all its users carry it. The idempotency key is made of the record's own id, so sending it again, after a crash or a second try, counts once; the timestamp is the record's own as well.",
  ];
}

function eventsSection(snapshot: Snapshot, events: readonly Ranked[], language: Language): string[] {
  const sections = events.flatMap(({ event, uses }, index) => [
    `### 3.${index + 1} ${code(event)}`,
    uses.length === 0
      ? "Nothing in the model reads it by name. It is a sign of life and part of the timeline: send it last."
      : ["Send it each time it happens, once for each record. It counts for:", "", ...uses.map(useLine)].join("\n"),
    block(language.name, `${language.track(event, snapshot.events[event]!.properties).join("\n")}\n`),
  ]);
  return [
    "## 3. Send the events, in this order",
    "The first are those on which most of the model depends. Values are placeholders of the right type; what is not marked as optional is required.",
    ...sections,
  ];
}

function useLine({ part, id, properties }: EventUse): string {
  const read = properties.length === 0 ? "" : `, which reads ${properties.map(code).join(", ")}`;
  return `- ${READS[part]} ${code(id)}${read}`;
}

function traitsSection(snapshot: Snapshot, language: Language): string[] {
  if (Object.keys(snapshot.traits).length === 0) return [];
  const lines = [...traitUses(snapshot)].map(([trait, uses]) => `- ${code(trait)}: ${traitLine(uses)}`);
  return [
    "## 4. Send the traits",
    "Send them when an account is made, and each that changed when it changes. They are merged into those that are there, and null (`None` in Python) removes one; leave out what you do not know.",
    block(language.name, `${language.identify(snapshot.traits).join("\n")}\n`),
    lines.join("\n"),
  ];
}

function traitLine(uses: readonly TraitUse[]): string {
  if (uses.length === 0) return "nothing in the model reads it";
  return uses.map(({ part, id }) => `${READS[part]} ${code(id)}`).join(", ");
}

function checkSection(event: string | undefined): string[] {
  const typed = event === undefined || !/^[\w.-]+$/.test(event) ? "" : ` --type ${event}`;
  return [
    "## 5. Check that it arrives",
    "Do something in the test environment that sends, and look:",
    block(
      "sh",
      `svc events list --env test --since 1h${typed}   # what was accepted, the newest first
svc diagnose --env test                             # what is wrong: refusals, violations, events that do not come
svc customers inspect <customer> --env test         # where it stands now, and why
`,
    ),
    "Then the same with the live key. History from before can be sent by `batch`, with the same keys and timestamps.",
  ];
}
