/** The language in which models are written: `import { defineModel, event, … } from "svc-success"`. */
export { all, any, not } from "./condition.js";
export type { Condition, Duration, Lazy, PropertyCondition } from "./condition.js";
export { display } from "./display.js";
export type { DisplayModel } from "./display.js";
export { event } from "./event.js";
export type { AnyEvent, EventModel, Properties } from "./event.js";
export { array, boolean, date, number, oneOf, string } from "./field.js";
export type { AnyField, ArrayField, BooleanField, DateField, Fields, NumberField, StringField } from "./field.js";
export { health, scale, steps } from "./health.js";
export type { AnyHealth, HealthModel, Score } from "./health.js";
export { journey, step } from "./journey.js";
export type { AnyJourney, JourneyModel, StepModel } from "./journey.js";
export { activeWithin, inactiveFor, inState, lifecycle } from "./lifecycle.js";
export type { AnyLifecycle, AnyStateDefinition, LifecycleModel, StateDefinition, StateTime } from "./lifecycle.js";
export { ModelError } from "./mistakes.js";
export { defineModel } from "./model.js";
export type { Model, ModelDefinition } from "./model.js";
export { sequence } from "./occurrences.js";
export type { Latest, Occurrences, OpenSequence, ScopedLatest, Sequence } from "./occurrences.js";
export { traitsChanged } from "./part.js";
export type { Occasion, Selection, Trigger } from "./part.js";
export { daysSince, daysSinceFirst } from "./quantity.js";
export type {
  Arithmetic,
  Calculated,
  Comparisons,
  Days,
  Measure,
  OpenCondition,
  Quantity,
  ScopedQuantity,
  WindowedQuantity,
} from "./quantity.js";
export { addTo, clear, emit, raise, removeFrom, rule } from "./rule.js";
export type { Action, RuleDefinition, RuleModel } from "./rule.js";
export { segment } from "./segment.js";
export type { ManualSegment, SegmentModel } from "./segment.js";
export { signal } from "./signal.js";
export type { ManualSignal, SignalModel } from "./signal.js";
export { tracking } from "./tracking.js";
export type { TrackingModel } from "./tracking.js";
export { traits } from "./traits.js";
export type { AnyTraits, Trait, TraitsModel } from "./traits.js";
