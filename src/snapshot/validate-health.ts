import { LIMITS } from "./limits.js";
import type { Placed, ReadList } from "./list.js";
import { readList } from "./list.js";
import type { Problems } from "./problem.js";
import { at, quote } from "./problem.js";
import type { Scope } from "./scope.js";
import { fits } from "./shape.js";
import { BAND, COMPONENT, HEALTH } from "./shapes.js";
import type { Health, HealthBand, HealthComponent } from "./types.js";
import { checkScore } from "./validate-score.js";

export interface ReadHealth {
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
