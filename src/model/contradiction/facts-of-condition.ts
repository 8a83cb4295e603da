import { canonicalJson } from "../snapshot/canonical.js";
import { parseDuration } from "../snapshot/duration.js";
import { compares, comparesField, type Fact, isDate, isOneOf, presence, type Subject } from "./facts.js";
import { quote } from "../snapshot/problem.js";
import type { Condition, Field, PropertyCondition } from "../snapshot/types.js";

/** The declared types, as far as they are known. */
export interface FieldTypes {
  trait(name: string): Field | undefined;
  property(event: string, name: string): Field | undefined;
}

/** A condition without others in it. */
export type ConditionLeaf = Exclude<Condition | PropertyCondition, { kind: "all" | "any" | "not" }>;

/**
 * What is the case where a condition holds, or does not: facts that exclude others. Of kinds that exclude nothing but their own
 * negation there is none.
 *
 * @param event whose properties a property condition speaks of; the empty text elsewhere.
 * @param daysMost how many days ago an occurrence can be at most that counts in a journey's step.
 */
export function factsOf(
  leaf: ConditionLeaf,
  holds: boolean,
  types: FieldTypes,
  event: string,
  daysMost?: number,
): Fact[] {
  switch (leaf.kind) {
    case "compare":
    case "exists":
      return factsOfProperty(leaf, holds, types.property(event, leaf.property));
    case "count":
    case "distinct":
    case "aggregate":
    case "latest":
    case "latestExists":
    case "daysSince":
      return factsOfOccurrences(leaf, holds, types, daysMost);
    case "trait":
    case "traitExists":
    case "traitDateWithin":
    case "traitDatePassed":
      return factsOfTrait(leaf, holds, types.trait(leaf.trait));
    case "inactiveFor":
    case "activeWithin":
      return factsOfActivity(leaf, holds);
    case "lifecycle":
      return isOneOf({ key: "lifecycle", label: "the lifecycle state" }, leaf.states, holds);
    case "healthBand":
      return isOneOf({ key: "band", label: "the band of the health score" }, leaf.bands, holds);
    case "health":
      return compares(
        { key: `health ${leaf.component ?? ""}`, label: "a health score", least: 0, most: 100 },
        leaf,
        holds,
      );
    case "journey":
      return isOneOf(statusOf(leaf.journey), leaf.statuses, holds);
    case "journeyStep":
      return factsOfStep(leaf, holds);
    case "sequence":
    case "inState":
    case "segment":
      return [];
  }
}

function factsOfProperty(
  leaf: Extract<ConditionLeaf, { kind: "compare" | "exists" }>,
  holds: boolean,
  field: Field | undefined,
): Fact[] {
  const subject = { key: `property ${leaf.property}`, label: `the property ${quote(leaf.property)}`, ...isDate(field) };
  return leaf.kind === "exists" ? presence(subject.key, subject.label, holds) : comparesField(subject, leaf, holds);
}

function factsOfOccurrences(
  leaf: Extract<ConditionLeaf, { kind: "count" | "distinct" | "aggregate" | "latest" | "latestExists" | "daysSince" }>,
  holds: boolean,
  types: FieldTypes,
  daysMost: number | undefined,
): Fact[] {
  if (leaf.kind === "daysSince") {
    const limited = leaf.which === "last" && daysMost !== undefined;
    const label = limited ? "a number of days within a run of the journey" : "a number of days";
    const key = canonicalJson({ kind: leaf.kind, which: leaf.which, of: leaf.of });
    const subject: Subject = { key, label, least: 0, integer: true, ...(limited ? { most: daysMost } : {}) };
    return compares(subject, leaf, holds);
  }
  const { of, within, since } = leaf;
  const scope = { of, within, since };
  switch (leaf.kind) {
    case "count":
      return compares(
        { key: canonicalJson({ kind: "count", ...scope }), label: "a count", least: 0, integer: true, always: true },
        leaf,
        holds,
      );
    case "distinct": {
      const key = canonicalJson({ kind: "distinct", property: leaf.property, ...scope });
      const label = "a number of different values";
      return compares({ key, label, least: 0, integer: true, always: true }, leaf, holds);
    }
    case "aggregate": {
      const key = canonicalJson({ kind: leaf.function, property: leaf.property, ...scope });
      const label = `the ${leaf.function} of ${quote(leaf.property)}`;
      return compares({ key, label, ...(leaf.function === "sum" ? { always: true } : {}) }, leaf, holds);
    }
    case "latest":
    case "latestExists": {
      const key = canonicalJson({ kind: "latest", property: leaf.property, ...scope });
      const label = `the latest ${quote(leaf.property)}`;
      if (leaf.kind === "latestExists") return presence(key, label, holds);
      return comparesField({ key, label, ...isDate(types.property(of.event, leaf.property)) }, leaf, holds);
    }
  }
}

function factsOfTrait(
  leaf: Extract<ConditionLeaf, { kind: "trait" | "traitExists" | "traitDateWithin" | "traitDatePassed" }>,
  holds: boolean,
  field: Field | undefined,
): Fact[] {
  const subject: Subject = { key: `trait ${leaf.trait}`, label: `the trait ${quote(leaf.trait)}`, ...isDate(field) };
  if (leaf.kind === "trait") return comparesField(subject, leaf, holds);
  if (leaf.kind === "traitExists") return presence(subject.key, subject.label, holds);
  if (!holds) return [];
  const ahead = leaf.kind === "traitDateWithin";
  const text = ahead ? "ahead" : "passed";
  return [
    ...presence(subject.key, subject.label, true),
    {
      subject: { key: `time of ${subject.key}`, label: subject.label },
      operator: "eq",
      value: ahead,
      present: true,
      text,
    },
  ];
}

/** Both speak of the time since the last event. Only the activity needs one: silence also counts from the first evaluation. */
function factsOfActivity(
  leaf: Extract<ConditionLeaf, { kind: "inactiveFor" | "activeWithin" }>,
  holds: boolean,
): Fact[] {
  const active = leaf.kind === "activeWithin";
  const subject: Subject = {
    key: "silence",
    label: "a customer",
    says: (texts) => `nobody is ${texts.sort().reverse().join(" and ")} at the same time`,
  };
  const text = `${holds ? "" : "not "}${active ? "active within" : "inactive for"} ${quote(leaf.duration)}`;
  const operator = active === holds ? "lt" : "gte";
  return [{ subject, operator, value: parseDuration(leaf.duration), present: active && holds, text }];
}

function statusOf(journey: string): Subject {
  return {
    key: `journey ${journey}`,
    label: `the status of the journey ${quote(journey)}`,
    values: ["not_started", "active", "complete", "expired"],
    always: true,
  };
}

function factsOfStep(leaf: Extract<ConditionLeaf, { kind: "journeyStep" }>, holds: boolean): Fact[] {
  const status = statusOf(leaf.journey);
  if (leaf.is === "completed") return holds ? isOneOf(status, ["not_started"], false) : [];
  const label = `the current step of the journey ${quote(leaf.journey)}`;
  return [
    ...isOneOf({ key: `step of ${status.key}`, label }, [leaf.step], holds),
    ...(holds ? isOneOf(status, ["active"], true) : []),
  ];
}
