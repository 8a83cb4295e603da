import { hashSnapshot } from "../../../src/snapshot/canonical.js";
import {
  EMPTY_SNAPSHOT,
  type Condition,
  type PropertyCondition,
  type Scalar,
  type Segment,
  type Snapshot,
  type Transition,
} from "../../../src/snapshot/types.js";
import { compileModel, type Json, type Model } from "../../../src/engine/index.js";

type Count = Extract<Condition, { kind: "count" }>;

export const all = (...conditions: Condition[]): Condition => ({ kind: "all", conditions });
export const any = (...conditions: Condition[]): Condition => ({ kind: "any", conditions });
export const not = (condition: Condition): Condition => ({ kind: "not", condition });
export const count = (
  event: string,
  operator: Count["operator"],
  value: number,
  more: { within?: string; since?: "state"; where?: PropertyCondition } = {},
): Condition => {
  const { where, ...rest } = more;
  return { kind: "count", of: where === undefined ? { event } : { event, where }, operator, value, ...rest };
};
export const happened = (event: string, more: Parameters<typeof count>[3] = {}): Condition =>
  count(event, "gte", 1, more);
export const trait = (
  name: string,
  operator: Extract<Condition, { kind: "trait" }>["operator"],
  value: Scalar | Scalar[],
): Condition => ({ kind: "trait", trait: name, operator, value });
export const traitExists = (name: string): Condition => ({ kind: "traitExists", trait: name });
export const dateWithin = (name: string, within: string): Condition => ({
  kind: "traitDateWithin",
  trait: name,
  within,
});
export const inactiveFor = (duration: string): Condition => ({ kind: "inactiveFor", duration });
export const activeWithin = (duration: string): Condition => ({ kind: "activeWithin", duration });
export const inState = (atLeast: string): Condition => ({ kind: "inState", atLeast });
export const inLifecycle = (...states: string[]): Condition => ({ kind: "lifecycle", states });
export const inSegment = (segment: string): Condition => ({ kind: "segment", segment });
export const property = (
  name: string,
  operator: Extract<PropertyCondition, { kind: "compare" }>["operator"],
  value: Scalar | Scalar[],
): PropertyCondition => ({ kind: "compare", property: name, operator, value });

/** A snapshot from its parts; states are `{ name: [[to, when], …] | "terminal" }`, the first is the initial one. */
export function snapshotOf(parts: {
  states?: Record<string, [to: string, when: Condition][] | "terminal">;
  segments?: Record<string, Condition | null>;
  events?: Snapshot["events"];
  traits?: Snapshot["traits"];
}): Snapshot {
  const states = Object.entries(parts.states ?? {});
  return {
    ...EMPTY_SNAPSHOT,
    events: parts.events ?? {},
    traits: parts.traits ?? {},
    lifecycle:
      states.length === 0
        ? null
        : {
            initial: states[0]![0],
            states: states.map(([name, to]) =>
              to === "terminal"
                ? { name, terminal: true as const, transitions: [] }
                : { name, transitions: to.map(([target, when]): Transition => ({ to: target, when })) },
            ),
          },
    segments: Object.entries(parts.segments ?? {}).map(([id, when]): Segment =>
      when === null ? { id } : { id, when },
    ),
  };
}

export function modelOf(parts: Parameters<typeof snapshotOf>[0]): Model {
  const snapshot = snapshotOf(parts);
  return compileModel(snapshot, hashSnapshot(snapshot));
}

/** An instant of 2026 in UTC from `MM-DD hh:mm[:ss[.mmm]]` or `MM-DD`. */
export function at(text: string): number {
  const [date, time = "00:00"] = text.split(" ");
  const instant = Date.parse(`2026-${date}T${time.length === 5 ? `${time}:00` : time}Z`);
  if (Number.isNaN(instant)) throw new Error(`no instant: ${text}`);
  return instant;
}

/** The shortest text that `at` reads back. */
export function show(instant: number | null): string {
  if (instant === null) return "—";
  const [date, time] = new Date(instant).toISOString().slice(5, -1).split("T") as [string, string];
  return `${date} ${time.replace(/\.000$/, "").replace(/^(\d\d:\d\d):00$/, "$1")}`;
}

export type Properties = Record<string, Json>;
