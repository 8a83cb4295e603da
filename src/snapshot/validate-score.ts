import Type from "typebox";
import { Compile } from "typebox/compile";

import type { Problems } from "./problem.js";
import { at, quote } from "./problem.js";
import type { Scope } from "./scope.js";
import { unknown } from "./scope.js";
import { choose, fits } from "./shape.js";
import { MEASURES, SCORES } from "./shapes.js";
import type { Field, Measure, Score } from "./types.js";
import { checkChoice } from "./validate-comparison.js";
import { checkOccurrenceMeasure } from "./validate-occurrences.js";

type Of<Kind extends Score["kind"]> = Extract<Score, { kind: Kind }>;

/** A limit and the score up to it. */
const SCORE_STEP = Compile(Type.Tuple([Type.Number(), Type.Number({ minimum: 0, maximum: 100 })]));

/** Checks how a component of the health is scored: shape, numbers, what it is measured by. */
export function checkScore(value: unknown, path: string, scope: Scope): void {
  if (!choose(SCORES, "kind", value, path, scope.problems)) return;
  const score = value as Score;
  switch (score.kind) {
    case "scale":
      checkScale(score, path, scope);
      break;
    case "steps":
      checkSteps(score, path, scope);
      break;
    case "map":
      checkMap(score, path, scope);
      break;
  }
}

function checkScale(score: Of<"scale">, path: string, scope: Scope): void {
  const { from, to } = score;
  const place = at(path, "to");
  if (from === to) {
    scope.problems.add(place, "INVALID_VALUE", `must differ from "from", which is ${from}, too`);
  } else if (!Number.isFinite(to - from)) {
    scope.problems.add(place, "INVALID_VALUE", `is too far from "from" for a number between them to be scored`);
  }
  // Beyond the greater end the score is constant.
  const most = to > from ? { value: to, path: place } : { value: from, path: at(path, "from") };
  checkMeasure(score.of, at(path, "of"), scope, most);
}

function checkSteps(score: Of<"steps">, path: string, scope: Scope): void {
  const steps = at(path, "steps");
  const sound = score.steps.map((step, index) => fits(SCORE_STEP, step, at(steps, index), scope.problems));
  const limitPath = (index: number) => at(at(steps, index), 0);
  if (sound.every(Boolean)) {
    score.steps.forEach(([limit], index) => {
      const before = score.steps[index - 1];
      if (before === undefined || limit > before[0]) return;
      const message = `limits ascend: this one must be greater than ${before[0]}, the one before it`;
      scope.problems.add(limitPath(index), "INVALID_VALUE", message);
    });
  }
  const last = score.steps.length - 1;
  const value = sound[last] ? score.steps[last]![0] : 0;
  checkMeasure(score.of, at(path, "of"), scope, { value, path: limitPath(last) });
}

function checkMap(score: Of<"map">, path: string, { traits, problems }: Scope): void {
  const field = checkTraitType(score.trait, "string", at(path, "trait"), traits, problems);
  if (field?.type !== "string" || !field.enum) return;
  const values = at(path, "values");
  for (const value of Object.keys(score.values)) checkChoice(field.enum, value, at(values, value), problems);
}

function checkMeasure(value: unknown, path: string, scope: Scope, most: { value: number; path: string }): void {
  if (!choose(MEASURES, "kind", value, path, scope.problems)) return;
  const measure = value as Measure;
  if (measure.kind === "trait") {
    checkTraitType(measure.trait, "number", at(path, "trait"), scope.traits, scope.problems);
  } else {
    checkOccurrenceMeasure(measure, path, scope, most);
  }
}

/** The declared type of a trait, where it is the one that is needed. */
function checkTraitType(
  trait: string,
  type: Field["type"],
  path: string,
  traits: Scope["traits"],
  problems: Problems,
): Field | undefined {
  if (!traits) return undefined;
  if (!traits.has(trait)) {
    unknown(problems, path, "UNKNOWN_TRAIT", `there is no trait ${quote(trait)}`, trait, traits.keys());
    return undefined;
  }
  const field = traits.get(trait);
  if (!field || field.type === type) return field;
  problems.add(path, "TYPE_MISMATCH", `the trait ${quote(trait)} is of the type ${field.type}, not ${type}`);
  return undefined;
}
