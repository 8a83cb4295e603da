import { readFile } from "node:fs/promises";
import path from "node:path";

import type { Field, Snapshot } from "../../../model/snapshot/types.js";
import { fromTemplate } from "../../core/package.js";
import { block, code } from "../../output/markdown.js";
import { jsonOf, plural, quoted } from "../../../words/text.js";
import { type EventUse, eventUses, type ReadingPart, type TraitUse, traitUses } from "./event-uses.js";

/** The language of the examples, as named in Markdown code blocks. */
type Language = "js" | "python";

type Fields = Readonly<Record<string, Field>>;

/** The setup of the examples: language, files of the client and the handler, and how queued operations are sent before the process ends. */
interface Setup {
  language: Language;
  client: string;
  handler: string;
  ending: string;
}

const AT_EXIT = "`atexit` sends what is still queued when a process, or a worker of the server, exits normally.";
const ofNode: Setup = {
  language: "js",
  client: "svc.js",
  handler: "server.js",
  ending: "On SIGTERM the server first stops serving, and then `svc.close` sends what is still queued.",
};
const ofPython: Setup = { language: "python", client: "svc_setup.py", handler: "app.py", ending: AT_EXIT };

/** Setups by framework; the names are also those of the templates in starter/plan. */
const SETUPS = {
  node: ofNode,
  express: ofNode,
  fastify: {
    ...ofNode,
    ending: "On SIGTERM `app.close()` stops serving, and the hook `onClose` sends what is still queued.",
  },
  koa: ofNode,
  nextjs: {
    ...ofNode,
    client: "lib/svc.js",
    handler: "app/api/records/route.js",
    ending:
      "`after` (Next.js 15.1) runs once the response is sent, and sends what is still queued, so nothing is left when the function is frozen or ends. Call it in each handler that tracks.",
  },
  python: ofPython,
  django: {
    ...ofPython,
    client: "records/svc_setup.py",
    handler: "records/views.py",
    ending: `${AT_EXIT} \`transaction.on_commit\` ensures that only committed changes are sent.`,
  },
  flask: ofPython,
  fastapi: {
    ...ofPython,
    ending: "The end of `lifespan` sends what is still queued once the server has stopped serving.",
  },
} as const satisfies Readonly<Record<string, Setup>>;

export type Framework = keyof typeof SETUPS;
export const FRAMEWORKS = Object.keys(SETUPS) as Framework[];

/** npm packages that identify a framework; frameworks built on others come first. */
const PACKAGES = { next: "nextjs", fastify: "fastify", express: "express", koa: "koa" } as const;
const PYTHON_FILES = ["requirements.txt", "pyproject.toml"];
const PYTHON_PACKAGES = ["django", "fastapi", "flask"] as const;

/**
 * The framework that a backend's package.json, requirements.txt or pyproject.toml requires, the more specific one of several; `python` or
 * `node` if only the language is known, and `node` if nothing is. Unreadable files are ignored.
 */
export async function detectFramework(directory: string): Promise<Framework> {
  const [manifest, ...python] = await Promise.all(
    ["package.json", ...PYTHON_FILES].map((name) =>
      readFile(path.join(directory, name), "utf8").catch(() => undefined),
    ),
  );
  // Invalid JSON, which npm cannot read either, is ignored.
  const { dependencies, devDependencies } = Object(jsonOf(manifest ?? "")) as Record<string, object | undefined>;
  const packages = Object.keys({ ...dependencies, ...devDependencies });
  const known = Object.entries(PACKAGES).find(([name]) => packages.includes(name))?.[1];
  if (known !== undefined) return known;
  const requirements = python.filter((text) => text !== undefined).join("\n");
  const isRequired = (name: string) =>
    new RegExp(`^[\\s"'\\[,]*${name}(?![\\w.-])|["']${name}(?![\\w.-])`, "im").test(requirements);
  const framework = PYTHON_PACKAGES.find(isRequired);
  if (framework !== undefined) return framework;
  return manifest === undefined && python.some((text) => text !== undefined) ? "python" : "node";
}

/** The parts of a model as the plan names them, and the weight of a use in each: the lifecycle matters first, and most is built upon it. */
const PARTS: Readonly<Record<ReadingPart, { name: string; weight: number }>> = {
  lifecycle: { name: "the lifecycle", weight: 8 },
  health: { name: "the health component", weight: 4 },
  journey: { name: "the journey", weight: 4 },
  signal: { name: "the signal", weight: 4 },
  rule: { name: "the rule", weight: 3 },
  segment: { name: "the segment", weight: 2 },
  display: { name: "the display", weight: 1 },
};

/**
 * What a backend engineer must do so that the model receives what it reads, as Markdown; the most important events first. Deterministic for
 * a model.
 */
export function instrumentationPlan(snapshot: Snapshot, framework: Framework): string {
  const { language, client, handler, ending } = SETUPS[framework];
  const { events, traits } = snapshot;
  const ranked = byImportance(snapshot);
  const first = ranked[0]?.event;
  const example = first ?? "signed_up";
  const call = trackCall(language, example, events[example]?.properties ?? {}).trimEnd();
  const module = framework === "django" ? ".svc_client" : "svc_client";
  return fromTemplate("plan/plan.txt", {
    DECLARED: declared(snapshot),
    INSTALL: fromTemplate(`plan/install-${language}.txt`).trimEnd(),
    CLIENT_FILE: code(client),
    CLIENT: block(language, fromTemplate(`plan/client-${language}.txt`, { MODULE: module })),
    ENDING: ending,
    HANDLER_FILE: code(handler),
    HANDLER: block(language, fromTemplate(`plan/${framework}.txt`, { CALL: call })),
    EVENTS:
      ranked.length === 0 ? "" : fromTemplate("plan/events.txt", { EVENTS: eventSections(snapshot, ranked, language) }),
    TRAITS:
      Object.keys(traits).length === 0
        ? ""
        : fromTemplate("plan/traits.txt", {
            CALL: block(language, identifyCall(language, traits)),
            TRAITS: [...traitUses(snapshot)].map(traitLine).join("\n"),
          }),
    TYPE: first === undefined || !/^[\w.-]+$/.test(first) ? "" : ` --type ${first}`,
  });
}

interface Ranked {
  event: string;
  uses: readonly EventUse[];
  weight: number;
}

/** The events by descending weight of their uses, then by name. */
function byImportance(snapshot: Snapshot): Ranked[] {
  return [...eventUses(snapshot)]
    .map(([event, uses]) => ({ event, uses, weight: uses.reduce((sum, { part }) => sum + PARTS[part].weight, 0) }))
    .sort((a, b) => b.weight - a.weight || (a.event < b.event ? -1 : 1));
}

function declared({ events, traits, strictSchema }: Snapshot): string {
  const counted = `${plural(Object.keys(events).length, "event")} and ${plural(Object.keys(traits).length, "trait")}`;
  const others = strictSchema
    ? "It is strict: what is not declared, or does not fit, is refused."
    : "It is not strict: what is not declared is accepted as well, and counted as a violation.";
  return `The model declares ${counted}. ${others}`;
}

/** For each event its rank, where it is read, and the call that sends it. */
function eventSections({ events }: Snapshot, ranked: readonly Ranked[], language: Language): string {
  const sections = ranked.flatMap(({ event, uses }, index) => [
    `### 3.${index + 1} ${code(event)}`,
    uses.length === 0
      ? "Nothing in the model reads it by name. It is a sign of life and part of the timeline: send it last."
      : ["Send it each time it happens, once for each record. It counts for:", "", ...uses.map(useLine)].join("\n"),
    block(language, trackCall(language, event, events[event]!.properties)),
  ]);
  return sections.join("\n\n");
}

function useLine({ part, id, properties }: EventUse): string {
  const read = properties.length === 0 ? "" : `, which reads ${properties.map(code).join(", ")}`;
  return `- ${PARTS[part].name} ${code(id)}${read}`;
}

function traitLine([trait, uses]: readonly [string, readonly TraitUse[]]): string {
  const places = uses.map(({ part, id }) => `${PARTS[part].name} ${code(id)}`).join(", ");
  return `- ${code(trait)}: ${places === "" ? "nothing in the model reads it" : places}`;
}

/** A call of `track` for `record`, which has an account's id, its own id and the instant of its creation; ends with a line break. */
function trackCall(language: Language, event: string, properties: Fields): string {
  const key = keyOf(event);
  return fromTemplate(`plan/track-${language}.txt`, {
    EVENT: quoted(event),
    PROPERTIES: objectOf(language, language === "js" ? "properties: " : "properties=", properties),
    KEY: language === "js" ? key.replace(/[\\`]|\$(?=\{)/g, "\\$&") : quoted(key),
  });
}

/** A call of `identify` for `account`; ends with a line break. */
function identifyCall(language: Language, traits: Fields): string {
  const object = objectOf(language, language === "js" ? "traits: " : "", traits);
  return fromTemplate(`plan/identify-${language}.txt`, { TRAITS: object });
}

/** An object literal with all fields, one a line, followed by a comma; empty if there are no fields. */
function objectOf(language: Language, head: string, fields: Fields): string {
  const [indentation, comment] = language === "js" ? ["  ", "//"] : ["    ", "#"];
  const lines = Object.entries(fields).map(([name, field]) => {
    const key = language === "js" && /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
    const note = noteOf(field);
    return `${indentation}${key}: ${valueOf(field, language)},${note === "" ? "" : ` ${comment} ${note}`}\n`;
  });
  return lines.length === 0 ? "" : `${head}{\n${lines.join("")}},`;
}

const CHOICES_SHOWN = 8;

/** A comment on a field: optional, allowed values, or format. */
function noteOf(field: Field): string {
  const { type, enum: choices } = field.type === "array" ? field.items : { enum: undefined, ...field };
  const shown = (choices ?? []).slice(0, CHOICES_SHOWN).map(quoted);
  const rest = (choices?.length ?? 0) - shown.length;
  return [
    ...(field.optional === true ? ["optional"] : []),
    ...(shown.length > 1 ? [`one of ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`] : []),
    ...(type === "date" ? ["ISO 8601, a date or an instant with a zone"] : []),
  ].join("; ");
}

function valueOf(field: Field, language: Language): string {
  switch (field.type) {
    case "array":
      return `[${valueOf(field.items, language)}]`;
    case "string":
      return quoted(field.enum?.[0] ?? "text");
    case "number":
      return "1";
    case "boolean":
      return language === "python" ? "True" : "true";
    case "date":
      return '"2030-01-31"';
  }
}

/** Leaves room for the record's id: an idempotency key has at most 256 characters. */
const KEY_LENGTH_MAX = 100;

/** The prefix of an event's idempotency keys: records of two kinds may have the same id. */
function keyOf(event: string): string {
  return [...event.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "_")].slice(0, KEY_LENGTH_MAX).join("");
}
