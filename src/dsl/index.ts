/** The language that models are written in: `import { defineModel, event, … } from "svc"`. */
export { all, any, not } from "./condition.js";
export type { Condition, Duration, PropertyCondition } from "./condition.js";
export type { Count, CountCondition, ScopedCount } from "./count.js";
export { event } from "./event.js";
export type { AnyEvent, EventModel, Occurrences } from "./event.js";
export { array, boolean, date, number, oneOf, string } from "./field.js";
export type { AnyField, ArrayField, BooleanField, DateField, Fields, NumberField, StringField } from "./field.js";
export { lifecycle } from "./lifecycle.js";
export type { AnyLifecycle, LifecycleModel, StateDefinition } from "./lifecycle.js";
export { defineModel } from "./model.js";
export type { Model, ModelDefinition } from "./model.js";
export { segment } from "./segment.js";
export type { SegmentModel } from "./segment.js";
export { activeWithin, inactiveFor, inState } from "./time.js";
export { traits } from "./traits.js";
export type { AnyTraits, TraitsModel } from "./traits.js";
