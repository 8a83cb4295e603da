import { readFile } from "node:fs/promises";
import path from "node:path";

import type { Snapshot } from "../../../model/snapshot/types.js";
import { fromTemplate } from "../../core/package.js";
import { jsonOf, plural } from "../../output/text.js";
import { type EventUse, eventUses, type ReadingPart, type TraitUse, traitUses } from "./event-uses.js";
import { JAVASCRIPT, type Language, PYTHON } from "./instrumentation-calls.js";
import { block, code } from "./tell.js";

/** What the examples are for: how the client is called, where it and the handler stand, and how what waits is sent before the process ends. */
interface Setup {
  language: Language;
  client: string;
  handler: string;
  ending: string;
}

const AT_EXIT = "`atexit` sends what waits when a process, or a worker of the server, ends in order.";
const ofNode: Setup = {
  language: JAVASCRIPT,
  client: "svc.js",
  handler: "server.js",
  ending: "On SIGTERM the server stops serving first, and then `svc.close` sends what waits.",
};
const ofPython: Setup = { language: PYTHON, client: "svc_setup.py", handler: "app.py", ending: AT_EXIT };

/** By their names, which are those of the templates in starter/plan, too. */
const SETUPS = {
  node: ofNode,
  express: ofNode,
  fastify: { ...ofNode, ending: "On SIGTERM `app.close()` stops serving, and the hook `onClose` sends what waits." },
  koa: ofNode,
  nextjs: {
    ...ofNode,
    client: "lib/svc.js",
    handler: "app/api/records/route.js",
    ending:
      "`after` (Next.js 15.1) runs once the answer is sent, and sends what waits, so nothing is left when the function is frozen or ends. Call it in each handler that tracks.",
  },
  python: ofPython,
  django: {
    ...ofPython,
    client: "records/svc_setup.py",
    handler: "records/views.py",
    ending: `${AT_EXIT} \`transaction.on_commit\` sees to it that only what was stored is told.`,
  },
  flask: ofPython,
  fastapi: { ...ofPython, ending: "The end of `lifespan` sends what waits once the server has stopped serving." },
} as const satisfies Readonly<Record<string, Setup>>;

export type Framework = keyof typeof SETUPS;
export const FRAMEWORKS = Object.keys(SETUPS) as Framework[];

const INSTALL = {
  js: 'The client is `svc/client`, a part of the package `svc`; it needs nothing but Node.js 20. `npm install --no-save "$(npm root --global)/svc"` makes the package known where the command `svc` is installed globally; elsewhere, install the package file that your deployment of svc is made of.',
  python:
    "The client is one file, `svc_client.py`, of the standard library of Python 3.8. `svc init --existing --slug <project> --stack python` in an empty directory writes it to `instrumentation/svc_client.py`: copy it beside your modules.",
};

/** Packages of npm that tell a framework, what is built upon others first. */
const PACKAGES = [
  ["next", "nextjs"],
  ["fastify", "fastify"],
  ["express", "express"],
  ["koa", "koa"],
] as const;

const PYTHON_FILES = ["requirements.txt", "pyproject.toml"];
const PYTHON_PACKAGES = ["django", "fastapi", "flask"] as const;

/**
 * The framework that a backend is written with, by what its package.json, requirements.txt or pyproject.toml asks for; where several are
 * there, what tells more wins. `python` or `node` where only the language is known, and `node` where nothing is: files that cannot be read
 * tell nothing.
 */
export async function detectFramework(directory: string): Promise<Framework> {
  const [manifest, ...python] = await Promise.all(
    ["package.json", ...PYTHON_FILES].map((name) =>
      readFile(path.join(directory, name), "utf8").catch(() => undefined),
    ),
  );
  // What npm cannot read either tells nothing.
  const { dependencies, devDependencies } = Object(jsonOf(manifest ?? "")) as Record<string, object | undefined>;
  const packages = Object.keys({ ...dependencies, ...devDependencies });
  const known = PACKAGES.find(([name]) => packages.includes(name))?.[1];
  if (known !== undefined) return known;
  const requirements = python.filter((text) => text !== undefined).join("\n");
  const isAsked = (name: string) =>
    new RegExp(`^[\\s"'\\[,]*${name}(?![\\w.-])|["']${name}(?![\\w.-])`, "im").test(requirements);
  const framework = PYTHON_PACKAGES.find(isAsked);
  if (framework !== undefined) return framework;
  return manifest === undefined && python.some((text) => text !== undefined) ? "python" : "node";
}

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
  const { language } = SETUPS[framework];
  const events = byImportance(snapshot);
  const sections = [
    "# Instrumentation plan",
    introduction(snapshot),
    ...clientSection(framework),
    ...handlerSection(framework, snapshot, events[0]?.event ?? "signed_up"),
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

function clientSection(framework: Framework): string[] {
  const { language, client, ending } = SETUPS[framework];
  const module = framework === "django" ? ".svc_client" : "svc_client";
  return [
    "## 1. Set up the client, once",
    INSTALL[language.name],
    "Set `SVC_API_URL` to the address of the service, without `/v1`, and `SVC_API_KEY` to a key of the environment that is meant: `svc keys create --name backend --env test` makes one. It belongs into your secrets, not into the code.",
    `${code(client)}:`,
    block(language.name, fromTemplate(`plan/client-${language.name}.txt`, { MODULE: module })),
    `${ending} What waits is in memory until then.`,
  ];
}

function handlerSection(framework: Framework, { events }: Snapshot, event: string): string[] {
  const { language, handler } = SETUPS[framework];
  const call = language.track(event, events[event]?.properties ?? {}).join("\n");
  return [
    "## 2. Send from a handler",
    `Call the client right after your own data is stored, with what was stored. This is complete; ${code("save")} stands for your code. ${code(handler)}:`,
    block(language.name, fromTemplate(`plan/${framework}.txt`, { CALL: call })),
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
