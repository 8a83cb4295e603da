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

/** The key that identifies a value as a model. */
export const MODEL: unique symbol = Symbol("svc.model");

/** Parts of one kind, as a list, or as a record such as a whole module: `import * as events from "./model/events.js"`. */
export type PartsOf<T> = readonly T[] | Readonly<Record<string, T>>;

/** The parts and settings of a model. */
export interface ModelDefinition {
  /** Whether to refuse events and traits that do not match their declarations. False by default: they are accepted and logged. */
  strictSchema?: boolean;
  /** What to do with them under a strict schema: `"refuse"` (the default), or `"quarantine"` to keep them until they are released or discarded. */
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

/** A complete model, the default export of `svc.config.ts`. */
export interface Model {
  readonly [MODEL]: ModelDefinition;
}

/** Assembles a model. Parts that are not listed here do not belong to it, even if a condition refers to them. */
export function defineModel(definition: ModelDefinition): Model {
  return withSourceLocation({ [MODEL]: definition });
}
