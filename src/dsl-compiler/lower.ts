/**
 * Turns a model into a snapshot. Runs beside the author's modules, in their process, and is bundled together with them; so it imports
 * nothing that Node.js would have to find.
 */
import { NODE } from "../dsl/condition.js";
import type { AnyEvent } from "../dsl/event.js";
import type { AnyLifecycle } from "../dsl/lifecycle.js";
import { type Model, MODEL, type ModelDefinition } from "../dsl/model.js";
import type { SegmentModel } from "../dsl/segment.js";
import { stackOf } from "../dsl/site.js";
import type { AnyTraits } from "../dsl/traits.js";
import { at, list, quote } from "../snapshot/problem.js";
import { SNAPSHOT_FORMAT_VERSION } from "../snapshot/types.js";

/** What the process of the author's modules sends back. */
export interface Lowered {
  /** Not validated yet. */
  snapshot: unknown;
  /** The stacks of the calls that made the parts of the snapshot, by path. */
  stacks: [path: string, stack: string][];
  problems: ModelProblem[];
}

/** A mistake that a snapshot could not express. */
export interface ModelProblem {
  code: string;
  message: string;
  stack?: string | undefined;
}

const PARTS = ["strictSchema", "events", "traits", "lifecycle", "segments"];

/** Turns what `svc.config.ts` exports into a snapshot, with all the mistakes found on the way. */
export function lower(exported: Record<string, unknown>): Lowered {
  if (!("default" in exported)) return broken("NO_DEFAULT_EXPORT", "svc.config.ts has no default export");
  const model = exported["default"];
  if (!isModel(model)) return broken("NOT_A_MODEL", "the default export of svc.config.ts is not a model");

  const problems: ModelProblem[] = [];
  const stack = stackOf(model);
  for (const part of Object.keys(model[MODEL])) {
    if (PARTS.includes(part)) continue;
    problems.push({
      code: "UNKNOWN_MODEL_PART",
      message: `a model has no part ${quote(part)}, only ${list(PARTS)}`,
      stack,
    });
  }
  return { ...lowerParts(model[MODEL], stack, problems), problems };
}

function broken(code: string, message: string): Lowered {
  return { snapshot: null, stacks: [], problems: [{ code, message }] };
}

function isModel(value: unknown): value is Model {
  return typeof value === "object" && value !== null && MODEL in value;
}

function lowerParts(
  definition: ModelDefinition,
  stack: string | undefined,
  problems: ModelProblem[],
): Omit<Lowered, "problems"> {
  const stacks: Lowered["stacks"] = stack === undefined ? [] : [["", stack]];
  const events = eventsOf(definition, stack, problems);
  const segments = segmentsOf(definition, stack, problems);
  const snapshot = {
    formatVersion: SNAPSHOT_FORMAT_VERSION,
    strictSchema: definition.strictSchema ?? false,
    events: Object.fromEntries(events.map((event) => [event.eventName, event[NODE]])),
    traits: "traits" in definition ? ((definition.traits as Partial<AnyTraits> | undefined)?.[NODE] ?? null) : {},
    lifecycle: lowerLifecycle(definition, stack, problems),
    journeys: [],
    segments: segments.map((segment) => segment.lower()),
    health: null,
    rules: [],
    signals: [],
  };
  const remember = (value: object | undefined, path: string) => {
    const made = value && stackOf(value);
    if (made !== undefined) stacks.push([path, made]);
  };
  remember(definition.lifecycle, "lifecycle");
  segments.forEach((segment, index) => remember(segment, at("segments", index)));
  rememberNodes(snapshot, "", remember);
  return { snapshot, stacks };
}

function eventsOf(definition: ModelDefinition, stack: string | undefined, problems: ModelProblem[]): AnyEvent[] {
  const events = new Map<string, AnyEvent>();
  for (const { name, value } of listOf(definition.events)) {
    if (typeof (value as AnyEvent | undefined)?.eventName !== "string") {
      problems.push({ code: "NOT_AN_EVENT", message: `${at("events", name)} is not an event`, stack });
    } else if (events.has(value.eventName)) {
      const message = `there is another event ${quote(value.eventName)}`;
      problems.push({ code: "DUPLICATE_EVENT", message, stack: stackOf(value[NODE]) });
    } else {
      events.set(value.eventName, value);
    }
  }
  return [...events.values()];
}

function segmentsOf(definition: ModelDefinition, stack: string | undefined, problems: ModelProblem[]): SegmentModel[] {
  return listOf(definition.segments).flatMap(({ name, value }) => {
    const segment = value as Partial<SegmentModel> | undefined;
    if (typeof segment?.lower === "function" && typeof segment.id === "string") return [value];
    problems.push({ code: "NOT_A_SEGMENT", message: `${at("segments", name)} is not a segment`, stack });
    return [];
  });
}

function lowerLifecycle(definition: ModelDefinition, stack: string | undefined, problems: ModelProblem[]): unknown {
  if (!("lifecycle" in definition)) return null;
  const lifecycle = definition.lifecycle as Partial<AnyLifecycle> | undefined;
  if (typeof lifecycle?.lower === "function" && !("id" in lifecycle)) return lifecycle.lower();
  problems.push({ code: "NOT_A_LIFECYCLE", message: "lifecycle is not what lifecycle(…) returns", stack });
  return null;
}

/** The members of a list or a record. One that is there under two names, as in a module that exports again what it imports, counts once. */
function listOf<T>(
  values: readonly T[] | Readonly<Record<string, T>> | undefined,
): { name: string | number; value: T }[] {
  const named = Array.isArray(values)
    ? (values as readonly T[]).map((value, name) => ({ name, value }))
    : Object.entries((values ?? {}) as Record<string, T>).map(([name, value]) => ({ name, value }));
  const seen = new Set<T>();
  return named.filter(({ value }) => {
    if (typeof value !== "object" || value === null) return true;
    return !seen.has(value) && seen.add(value);
  });
}

function rememberNodes(value: unknown, path: string, remember: (value: object, path: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  remember(value, path);
  if (Array.isArray(value)) value.forEach((item, index) => rememberNodes(item, at(path, index), remember));
  else for (const [key, member] of Object.entries(value)) rememberNodes(member, at(path, key), remember);
}
