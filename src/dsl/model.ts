import type { DisplayModel } from "./display.js";
import type { AnyEvent } from "./event.js";
import type { AnyHealth } from "./health.js";
import type { AnyJourney } from "./journey.js";
import type { AnyLifecycle } from "./lifecycle.js";
import type { RuleModel } from "./rule.js";
import type { SegmentModel } from "./segment.js";
import type { SignalModel } from "./signal.js";
import type { TrackingModel } from "./tracking.js";
import type { AnyTraits } from "./traits.js";
import { withSourceLocation } from "./part.js";

/** The key that tells a model from any other value. */
export const MODEL: unique symbol = Symbol("svc.model");

/** Parts of one kind, as a list, or as a record such as a whole module: `import * as events from "./model/events.js"`. */
export type PartsOf<T> = readonly T[] | Readonly<Record<string, T>>;

/** What a model is made of. */
export interface ModelDefinition {
  /** Whether events and traits that do not fit what is declared are refused. False unless set: they are accepted and logged. */
  strictSchema?: boolean;
  /** What becomes of those under a strict schema: `"refuse"`, unless set, or `"quarantine"`: they are kept, to be released or discarded. */
  onViolation?: "refuse" | "quarantine";
  events?: PartsOf<AnyEvent>;
  traits?: AnyTraits;
  lifecycle?: AnyLifecycle;
  journeys?: PartsOf<AnyJourney>;
  segments?: PartsOf<SegmentModel>;
  health?: AnyHealth;
  rules?: PartsOf<RuleModel>;
  signals?: PartsOf<SignalModel>;
  display?: DisplayModel;
  tracking?: TrackingModel;
}

/** A whole model, as `svc.config.ts` exports it by default. */
export interface Model {
  readonly [MODEL]: ModelDefinition;
}

/** Puts a model together. What is not listed here is not part of it, even if a condition names it. */
export function defineModel(definition: ModelDefinition): Model {
  return withSourceLocation({ [MODEL]: definition });
}
