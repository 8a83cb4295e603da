import type { AnyEvent } from "./event.js";
import type { AnyLifecycle } from "./lifecycle.js";
import type { SegmentModel } from "./segment.js";
import { located } from "./site.js";
import type { AnyTraits } from "./traits.js";

/** The key that tells a model from any other value. */
export const MODEL: unique symbol = Symbol("svc.model");

/** What a model is made of. Lists may also be given as records, such as a whole module: `import * as events from "./model/events.js"`. */
export interface ModelDefinition {
  /** Whether events and traits that do not fit what is declared are refused. False unless set: they are accepted and logged. */
  strictSchema?: boolean;
  events?: readonly AnyEvent[] | Readonly<Record<string, AnyEvent>>;
  traits?: AnyTraits;
  lifecycle?: AnyLifecycle;
  segments?: readonly SegmentModel[] | Readonly<Record<string, SegmentModel>>;
}

/** A whole model, as `svc.config.ts` exports it by default. */
export interface Model {
  readonly [MODEL]: ModelDefinition;
}

/** Puts a model together. What is not listed here is not part of it, even if a condition names it. */
export function defineModel(definition: ModelDefinition): Model {
  return located({ [MODEL]: definition });
}
