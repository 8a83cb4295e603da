import type { Snapshot } from "../model/snapshot/types.js";

/** The names of a model's parts, in the author's order; empty lists without a model. */
export function partNames(model: Snapshot | null) {
  return {
    states: model?.lifecycle?.states.map(({ name }) => name) ?? [],
    segments: model?.segments.map(({ id }) => id) ?? [],
    bands: model?.health?.bands.map(({ id }) => id) ?? [],
    signals: model?.signals.map(({ id }) => id) ?? [],
    rules: model?.rules.map(({ id }) => id) ?? [],
    traits: Object.keys(model?.traits ?? {}),
  };
}
