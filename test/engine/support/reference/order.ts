import type { Condition, Measure, Score, Snapshot, Trigger } from "../../../../src/model/snapshot/types.js";
import { leavesOf } from "./conditions.js";

/** An item of a model: a kind, and an id where a model has several. */
export interface Item {
  kind: "lifecycle" | "journey" | "segment" | "health" | "rule" | "signal";
  id: string;
}

/** The items, each after the items it reads; those that read each other stay together, in the default order. */
export function orderOf(snapshot: Snapshot): Item[] {
  const items: Item[] = [
    ...(snapshot.lifecycle === null ? [] : [{ kind: "lifecycle" as const, id: "" }]),
    ...snapshot.journeys.map(({ id }) => ({ kind: "journey" as const, id })),
    ...snapshot.segments.filter(({ when }) => when).map(({ id }) => ({ kind: "segment" as const, id })),
    ...(snapshot.health === null ? [] : [{ kind: "health" as const, id: "" }]),
    ...snapshot.rules.map(({ id }) => ({ kind: "rule" as const, id })),
    ...snapshot.signals.map(({ id }) => ({ kind: "signal" as const, id })),
  ];
  const read = items.map((item) => new Set(readBy(snapshot, item)));
  const reads = (a: Item): Item[] => items.filter((b) => read[items.indexOf(a)]!.has(nameOf(b)));
  const reaches = (from: Item, to: Item, seen = new Set<Item>()): boolean =>
    reads(from).some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))));
  const order: Item[] = [];
  const place = (item: Item): void => {
    if (order.includes(item)) return;
    const group = items.filter((other) => other === item || (reaches(item, other) && reaches(other, item)));
    items.filter((other) => !group.includes(other) && group.some((one) => reads(one).includes(other))).forEach(place);
    order.push(...group);
  };
  items.forEach(place);
  return order;
}

/** Whether any condition reads health: then it is an item like others, otherwise it is refreshed once a day. */
export function isHealthRead(snapshot: Snapshot): boolean {
  const items = orderOf(snapshot).filter(({ kind }) => kind !== "health");
  return items.some((item) => readBy(snapshot, item).includes("health "));
}

function nameOf({ kind, id }: Item): string {
  return `${kind} ${id}`;
}

function readBy(snapshot: Snapshot, { kind, id }: Item): string[] {
  switch (kind) {
    case "lifecycle":
      return snapshot.lifecycle!.states.flatMap(({ transitions }) => transitions.flatMap(({ when }) => read(when)));
    case "journey": {
      const journey = snapshot.journeys.find((one) => one.id === id)!;
      return [journey.start, ...journey.steps.map(({ when }) => when)].flatMap(read);
    }
    case "segment":
      return read(snapshot.segments.find((one) => one.id === id)!.when);
    case "health":
      return snapshot.health!.components.flatMap(({ score }) => readByScore(score));
    case "rule": {
      const { on, when } = snapshot.rules.find((one) => one.id === id)!;
      return [...read(when), ...awaitedBy(on)];
    }
    case "signal":
      return read(snapshot.signals.find((one) => one.id === id)!.when);
  }
}

/** The items a rule must follow although it does not read them. Health precedes all rules anyway, and waiting for it is not reading it. */
function awaitedBy(on: Trigger): string[] {
  if ("state" in on) return ["lifecycle "];
  if ("journey" in on) return [`journey ${on.journey}`];
  if ("segment" in on) return [`segment ${on.segment}`];
  return "signal" in on ? [`signal ${on.signal}`] : [];
}

function read(condition: Condition | undefined): string[] {
  if (condition === undefined) return [];
  return leavesOf({ condition, start: "ever" }).flatMap(({ condition: leaf }): string[] => {
    if (leaf.kind === "segment") return [`segment ${leaf.segment}`];
    if (leaf.kind === "journey" || leaf.kind === "journeyStep") return [`journey ${leaf.journey}`];
    if (leaf.kind === "health" || leaf.kind === "healthBand") return ["health "];
    return leaf.kind === "lifecycle" || leaf.kind === "inState" ? ["lifecycle "] : sinceOf(leaf);
  });
}

function readByScore(score: Score): string[] {
  return score.kind === "map" ? [] : sinceOf(score.of);
}

function sinceOf(reading: Condition | Measure): string[] {
  if (reading.kind === "ratio") return [reading.of, reading.per].flatMap(sinceOf);
  if (reading.kind === "difference") return [reading.of, reading.minus].flatMap(sinceOf);
  if (!("since" in reading)) return [];
  return reading.since === "state" ? ["lifecycle "] : [`journey ${reading.since.journey}`];
}
