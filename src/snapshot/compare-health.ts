import type { Changes, Part } from "./change.js";
import { asWhole, compareMembers, member } from "./change.js";
import { compareMeasures } from "./compare-conditions.js";
import { compareKeyed, compareOrder, keyedItems, keyedMembers, type Keyed } from "./compare-lists.js";
import type { Placed } from "./list.js";
import type { Health, HealthBand, HealthComponent, Score } from "./types.js";
import { scoreText, stepsText } from "./words.js";

export function compareHealth(
  before: Placed<Health> | undefined,
  after: Placed<Health> | undefined,
  changes: Changes,
): void {
  compareComponents(itemsOf(before, "components"), itemsOf(after, "components"), changes);
  compareBands(itemsOf(before, "bands"), itemsOf(after, "bands"), changes);
}

function itemsOf<K extends "components" | "bands">(
  health: Placed<Health> | undefined,
  list: K,
): Keyed<Health[K][number]>[] {
  const items = health && (member(health, list) as Placed<Health[K][number][]>);
  return items === undefined ? [] : keyedItems(items, ({ id }) => id);
}

function compareComponents(before: Keyed<HealthComponent>[], after: Keyed<HealthComponent>[], changes: Changes): void {
  const compare = (part: Part, older: Placed<HealthComponent>, newer: Placed<HealthComponent>): void =>
    compareMembers(older, newer, {
      id: null,
      weight: asWhole(changes, part, "weight", String),
      score: (was, is) => compareScores(part, was!, is!, changes),
    });
  const text = ({ weight, score }: HealthComponent): string => `weight ${weight}, ${scoreText(score)}`;
  compareKeyed(before, after, { part: (id) => ({ subject: "health component", id }), text, compare }, changes);
  const part = { subject: "setting", id: "components" } as const;
  compareOrder(before, after, { part, path: "health.components", what: "health components" }, changes);
}

function compareBands(before: Keyed<HealthBand>[], after: Keyed<HealthBand>[], changes: Changes): void {
  const compare = (part: Part, older: Placed<HealthBand>, newer: Placed<HealthBand>): void =>
    compareMembers(older, newer, { id: null, from: asWhole(changes, part, "from", String) });
  const part = (id: string): Part => ({ subject: "setting", id: `bands.${id}` });
  compareKeyed(before, after, { part, text: ({ from }) => `from ${from}`, compare }, changes);
  const bands = { subject: "setting", id: "bands" } as const;
  compareOrder(before, after, { part: bands, path: "health.bands", what: "bands" }, changes);
}

type Of<K extends Score["kind"]> = Placed<Extract<Score, { kind: K }>>;

function compareScores(part: Part, before: Placed<Score>, after: Placed<Score>, changes: Changes): void {
  if (isOf("scale", before) && isOf("scale", after)) {
    compareMembers(before, after, {
      kind: null,
      of: (was, is) => compareMeasures(part, was!, is!, changes),
      from: asWhole(changes, part, "scale from", String),
      to: asWhole(changes, part, "scale to", String),
    });
  } else if (isOf("steps", before) && isOf("steps", after)) {
    compareMembers(before, after, {
      kind: null,
      of: (was, is) => compareMeasures(part, was!, is!, changes),
      steps: asWhole(changes, part, "steps", stepsText),
      otherwise: asWhole(changes, part, "otherwise", String),
    });
  } else if (isOf("map", before) && isOf("map", after)) {
    compareMembers(before, after, {
      kind: null,
      trait: asWhole(changes, part, "trait", String),
      values: (was, is) => compareValues(part, was!, is!, changes),
    });
  } else {
    asWhole(changes, part, "score", scoreText)(before, after);
  }
}

function isOf<K extends Score["kind"]>(kind: K, score: Placed<Score>): score is Of<K> {
  return score.item.kind === kind;
}

/** The scores of the values of a trait. */
function compareValues(
  part: Part,
  before: Placed<Record<string, number>>,
  after: Placed<Record<string, number>>,
  changes: Changes,
): void {
  const [was, is] = [before, after].map((side) => new Map(keyedMembers(side).map((one) => [one.key, one] as const)));
  for (const value of new Set([...is!.keys(), ...was!.keys()])) {
    const [older, newer] = [was!.get(value), is!.get(value)];
    if (older?.item !== newer?.item) asWhole(changes, part, `score of ${JSON.stringify(value)}`, String)(older, newer);
  }
}
