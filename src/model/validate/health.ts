import Type from "typebox";
import { Compile } from "typebox/compile";
import { LIMITS } from "../snapshot/limits.js";
import { at, type Placed, type Problems, quote } from "../snapshot/problem.js";
import type { Health, HealthBand, HealthComponent, Measure, Score } from "../snapshot/types.js";
import { checkChoice, checkMeasuredOccurrences, traitOfType } from "./conditions.js";
import { type ReadList, readList, type Scope } from "./scope.js";
import { BAND, choose, COMPONENT, fits, HEALTH, MEASURES, SCORES } from "./shapes.js";

type Of<Kind extends Score["kind"]> = Extract<Score, { kind: Kind }>;

/** A limit and the score up to it. */
const SCORE_STEP = Compile(Type.Tuple([Type.Number(), Type.Number({ minimum: 0, maximum: 100 })]));

/** Checks how a component of the health is scored: shape, numbers, what it is measured by. */
function checkScore(value: unknown, path: string, scope: Scope): void {
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
  const limitPath = (index: number) => at(steps, index, 0);
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

function checkMap(score: Of<"map">, path: string, scope: Scope): void {
  const field = traitOfType(score.trait, "string", at(path, "trait"), scope);
  if (field?.type !== "string" || !field.enum) return;
  for (const value of Object.keys(score.values))
    checkChoice(field.enum, value, at(path, "values", value), scope.problems);
}

function checkMeasure(value: unknown, path: string, scope: Scope, most: { value: number; path: string }): void {
  if (!choose(MEASURES, "kind", value, path, scope.problems)) return;
  const measure = value as Measure;
  if (measure.kind === "trait") traitOfType(measure.trait, "number", at(path, "trait"), scope);
  else checkMeasuredOccurrences(measure, path, scope, most);
}

interface ReadHealth {
  components: ReadList<HealthComponent>;
  bands: ReadList<HealthBand>;
}

/** Undefined where the shape is broken. */
export function readHealth(value: unknown, problems: Problems): ReadHealth | null | undefined {
  if (value === null) return null;
  if (!fits(HEALTH, value, "health", problems)) return undefined;
  const { components, bands } = value as Health;
  return {
    components: readList<HealthComponent>(
      components,
      "health.components",
      { shape: COMPONENT, most: LIMITS.components, noun: "component", duplicate: "DUPLICATE_COMPONENT" },
      problems,
    ),
    bands: readList<HealthBand>(
      bands,
      "health.bands",
      { shape: BAND, most: LIMITS.bands, noun: "band", duplicate: "DUPLICATE_BAND" },
      problems,
    ),
  };
}

export function checkHealth({ components, bands }: ReadHealth, scope: Scope): void {
  if (components.ids && components.items.every(({ item }) => item.weight === 0)) {
    const message = "the weights of the components sum to zero, so there is no mean of them";
    scope.problems.add("health.components", "WEIGHTS_SUM_TO_ZERO", message);
  }
  for (const { item, path } of components.items) checkScore(item.score, at(path, "score"), scope);
  if (bands.ids) checkBands(bands.items, scope.problems);
}

/** Every score is in exactly one band. */
function checkBands(bands: Placed<HealthBand>[], problems: Problems): void {
  bands.forEach(({ item: band, path }, index) => {
    const above = bands[index - 1]?.item;
    const place = at(path, "from");
    if (above && band.from >= above.from) {
      const message = `bands are listed from the highest to the lowest: this one must begin below ${quote(above.id)}, at less than ${above.from}`;
      problems.add(place, "INVALID_VALUE", message);
    } else if (index === bands.length - 1 && band.from !== 0) {
      problems.add(place, "INVALID_VALUE", "the last band is from 0, so that every score has a band");
    }
  });
}
