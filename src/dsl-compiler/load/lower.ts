/** Turns a model into a snapshot. Runs in the process of the author's modules and is bundled with them, so it must not import anything from packages. */
import type { AnyEvent } from "../../dsl/event.js";
import { type Model, MODEL, type ModelDefinition } from "../../dsl/model.js";
import { type ModelError, ModelWarning, RECOVERY_DISPLAY, takeRecorded } from "../../dsl/mistakes.js";
import { LOWER, NODE, type Part, PART, RECORD_ONLY, SELECTOR, stackOf, unlistedParts } from "../../dsl/part.js";
import { at, list, quote } from "../../model/snapshot/problem.js";
import { nearest } from "../../model/snapshot/suggestion.js";
import { SNAPSHOT_FORMAT_VERSION } from "../../model/snapshot/types.js";

/** The result that the process of the author's modules sends back. */
export interface Lowered {
  /** Not validated yet. */
  snapshot: unknown;
  /** The stacks of the calls that made the parts of the snapshot, by path. */
  stacks: [path: string, stack: string][];
  /** The events that the author marked as not for conditions. */
  recordOnly: string[];
  /** The parts that were created but are not in the model. The id is empty for kinds of which a model has only one. */
  unlisted: { kind: string; id: string; stack: string | undefined }[];
  problems: ModelProblem[];
}

/** A mistake that a snapshot could not express. */
export interface ModelProblem {
  /** An error by default. */
  severity?: "warning";
  code: string;
  message: string;
  stack?: string | undefined;
  /** How to fix it, where there is better advice than the general one for the code. */
  fix?: string | undefined;
}

const PARTS: readonly (keyof ModelDefinition)[] = [
  "strictSchema",
  "onViolation",
  "events",
  "traits",
  "lifecycle",
  "journeys",
  "segments",
  "health",
  "rules",
  "signals",
  "display",
  "tracking",
];

/** Turns the exports of `svc.config.ts` into a snapshot, with all the mistakes found on the way. */
export function lower(exported: Record<string, unknown>): Lowered {
  if (!("default" in exported)) return broken("NO_DEFAULT_EXPORT", "svc.config.ts has no default export");
  const model = exported["default"];
  if (!isModel(model)) return broken("NOT_A_MODEL", "the default export of svc.config.ts is not a model");

  const lowering = new Lowering(model[MODEL], stackOf(model));
  const snapshot = lowering.snapshot();
  const stacks: Lowered["stacks"] = lowering.stack === undefined ? [] : [["", lowering.stack]];
  collectStacks(snapshot, "", stacks);
  // Only now: building the snapshot calls the author's functions, which may record mistakes.
  const problems = [...takeRecorded().map(problemOf), ...lowering.problems];
  const unlisted = unlistedParts().map((part) => ({ ...part, stack: stackOf(part) }));
  return { snapshot, stacks, recordOnly: lowering.recordOnly, unlisted, problems };
}

function broken(code: string, message: string): Lowered {
  const problems = [...takeRecorded().map(problemOf), { code, message }];
  return { snapshot: null, stacks: [], recordOnly: [], unlisted: [], problems };
}

function isModel(value: unknown): value is Model {
  return typeof value === "object" && value !== null && MODEL in value;
}

/** A mistake that a builder recorded, with the name that was probably meant. */
function problemOf(mistake: ModelError): ModelProblem {
  const { code, message, fix, misnamed, stack } = mistake;
  if (mistake instanceof ModelWarning) return { severity: "warning", code, message, stack, fix };
  const meant = misnamed && nearest(misnamed.name, misnamed.candidates);
  if (meant === undefined) return { code, message, stack, fix: fix ?? (misnamed && oneOf(misnamed.candidates)) };
  return { code, message: `${message}; did you mean ${quote(meant)}?`, stack, fix: `write ${quote(meant)}` };
}

function oneOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `use one of ${list(names)}`;
}

class Lowering {
  readonly problems: ModelProblem[] = [];
  readonly recordOnly: string[] = [];

  constructor(
    readonly definition: ModelDefinition,
    /** The stack of the call of `defineModel`. */
    readonly stack: string | undefined,
  ) {
    for (const part of Object.keys(definition)) {
      if ((PARTS as readonly string[]).includes(part)) continue;
      this.#report("UNKNOWN_MODEL_PART", `a model has no part ${quote(part)}, only ${list(PARTS)}`);
    }
  }

  snapshot(): object {
    const { strictSchema, onViolation = "refuse" } = this.definition;
    const events = this.#events();
    const display = this.#one("display", "NOT_A_DISPLAY");
    const tracking = this.#one("tracking", "NOT_TRACKING");
    return {
      formatVersion: SNAPSHOT_FORMAT_VERSION,
      strictSchema: strictSchema ?? false,
      // Refusing is the default, which a snapshot omits.
      ...(onViolation === "refuse" ? {} : { onViolation }),
      events: Object.fromEntries(events.map((event) => [event.eventName, event[NODE]])),
      traits: this.#one("traits", "NOT_TRAITS") ?? {},
      lifecycle: this.#one("lifecycle", "NOT_A_LIFECYCLE"),
      journeys: this.#list("journeys", "journey"),
      segments: this.#list("segments", "segment"),
      health: this.#one("health", "NOT_HEALTH"),
      rules: this.#list("rules", "rule"),
      signals: this.#list("signals", "signal"),
      ...(display === null || display === RECOVERY_DISPLAY ? {} : { display }),
      ...(tracking === null ? {} : { tracking }),
    };
  }

  #events(): AnyEvent[] {
    const events = new Map<string, AnyEvent>();
    for (const { name, value } of this.#membersOf("events")) {
      if (!isEvent(value)) {
        this.#reportStray("events", "event", name);
      } else if (events.has(value.eventName)) {
        this.#report("DUPLICATE_EVENT", `there is another event ${quote(value.eventName)}`, stackOf(value[NODE]));
      } else {
        if (value[RECORD_ONLY]) this.recordOnly.push(value.eventName);
        events.set(value.eventName, value);
      }
    }
    return [...events.values()];
  }

  #one(kind: "traits" | "lifecycle" | "health" | "display" | "tracking", code: string): unknown {
    if (!(kind in this.definition)) return null;
    const value: unknown = this.definition[kind];
    if (isPart(value, kind)) return value[LOWER]();
    this.#report(code, `${kind} is not what ${kind}(…) returns`);
    return null;
  }

  #list(part: "journeys" | "segments" | "rules" | "signals", kind: string): unknown[] {
    return this.#membersOf(part).flatMap(({ name, value }) => {
      if (isPart(value, kind)) return [value[LOWER]()];
      this.#reportStray(part, kind, name);
      return [];
    });
  }

  /** The members of a list or a record. Anything else, such as a single part without brackets, is reported and has no members. */
  #membersOf(part: ListedPart): Member[] {
    const parts = (this.definition[part] as unknown) ?? [];
    // The placeholder for a value that could not be computed is a function.
    if (typeof parts === "function") return [];
    if (typeof parts === "object" && !VALUE_KEYS.some((key) => key in parts)) return membersOf(parts);
    this.#report("NOT_A_LIST", `${part} is not a list`);
    return [];
  }

  #reportStray(part: ListedPart, kind: string, name: string | number): void {
    const what = kind === "event" ? "an event" : `a ${kind}`;
    const code = `NOT_${what.replace(" ", "_").toUpperCase()}`;
    // The exports of a module are getters; the members of an object are values.
    const isExport = Object.getOwnPropertyDescriptor(this.definition[part], name)?.get !== undefined;
    const fix = isExport ? `move it out of the module of ${part}, which lists all that it exports` : undefined;
    this.#report(code, `${at(part, name)} is not ${what}`, this.stack, fix);
  }

  #report(code: string, message: string, stack = this.stack, fix?: string): void {
    this.problems.push({ code, message, stack, fix });
  }
}

type ListedPart = "events" | "journeys" | "segments" | "rules" | "signals";

/** A listed value, with its position or name. */
interface Member {
  name: string | number;
  value: unknown;
}

/** The keys of the language's own values, none of which is a record of parts. */
const VALUE_KEYS = [PART, NODE, SELECTOR] as const;

function isPart(value: unknown, kind: string): value is Part<string, object> {
  return typeof value === "object" && value !== null && (value as Partial<Part<string, object>>)[PART] === kind;
}

/** Tests `in` first, because reading an unknown member of a selection of events is reported as a mistake. */
function isEvent(value: unknown): value is AnyEvent {
  return typeof value === "object" && value !== null && "eventName" in value && typeof value.eventName === "string";
}

/** The members of a list or a record. A value with two names, as in a module that re-exports what it imports, counts once. */
function membersOf(parts: object): Member[] {
  const named: Member[] = Array.isArray(parts)
    ? parts.map((value: unknown, name) => ({ name, value }))
    : Object.entries(parts).map(([name, value]: [string, unknown]) => ({ name, value }));
  const seen = new Set<unknown>();
  return named.filter(({ value }) => {
    if (typeof value !== "object" || value === null) return true;
    return !seen.has(value) && seen.add(value);
  });
}

/** Collects the stacks of all nodes that have one: builders record where they were called. Other nodes are located by the node that contains them. */
function collectStacks(value: unknown, path: string, stacks: Lowered["stacks"]): void {
  if (typeof value !== "object" || value === null) return;
  const stack = stackOf(value);
  if (stack !== undefined) stacks.push([path, stack]);
  if (Array.isArray(value)) value.forEach((item, index) => collectStacks(item, at(path, index), stacks));
  else for (const [key, member] of Object.entries(value)) collectStacks(member, at(path, key), stacks);
}
