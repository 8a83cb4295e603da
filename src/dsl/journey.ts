import type { Journey as JourneyNode, JourneyStatus, JourneyStep as StepNode } from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, type Lazy, membership, nodeOf, resolve } from "./condition.js";
import { definitionOf, strictProxy } from "./mistakes.js";
import { flag, LOWER, type Part, part, trigger, type Trigger } from "./part.js";

/** A journey: steps that a customer completes after a start, until all are complete or time runs out. */
export interface JourneyModel<Step extends string = string> extends AnyJourney {
  /** Holds while the current or last run has this status; "not_started" before the first run. */
  is(status: JourneyStatus): Condition;
  /** Holds while the current or last run has one of these statuses. */
  in(...statuses: JourneyStatus[]): Condition;
  /** Holds while the current or last run has another status. */
  isNot(status: JourneyStatus): Condition;
  /** Holds while the journey is active and this is its current step: the first in order that is not complete. */
  atStep(step: Step): Condition;
  /** For a rule's `on`: the last step is completed, and with it the run. */
  completed(): Trigger;
  /** Holds while the current or last run has completed this step. */
  completed(step: Step): Condition;
  /** For a rule's `on`: a run starts. */
  started(): Trigger;
  /** For a rule's `on`: a run completes this step. */
  stepCompleted(step: Step): Trigger;
  /** For a rule's `on`: a run expires. */
  expired(): Trigger;
}

/** A journey with any steps. */
export interface AnyJourney extends Part<"journey", JourneyNode> {
  readonly id: string;
}

/** A step of a journey. */
export interface StepModel<Id extends string = string> extends Part<"step", StepNode> {
  readonly id: Id;
}

/** The definition of a journey. */
export interface JourneyDefinition<Step extends string> {
  /** The first run starts when it holds. With `repeat`, it also starts later runs; for these, only what happened after the end of the last
   * run counts, whatever `since` says. */
  start: Lazy<Condition>;
  /** At least one. They are completed in this order unless `anyOrder` is set. */
  steps: readonly StepModel<Step>[];
  /** Whether steps can be completed in any order. */
  anyOrder?: boolean;
  /** A run that is not complete this long after its start expires; without it, runs never expire. */
  expiresAfter?: Duration;
  /** Whether a new run can start after the end of one. Otherwise completion and expiry are final. */
  repeat?: boolean;
}

/**
 * Declares a journey. It is active from its start until its last step is complete, or until `expiresAfter` has passed. Steps count what
 * happened since the start, so that a checklist recognizes what was done early; a step with `since: "previousStep"` counts from the
 * previous step, as in a funnel. The event that starts a journey does not count for its steps.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter.
 */
export function journey<Step extends string>(id: string, definition: JourneyDefinition<Step>): JourneyModel<Step> {
  const { start, steps, anyOrder, repeat, ...rest } = definitionOf(definition, "journey(…)", "start and steps");
  const lower = (): JourneyNode => ({
    id,
    ...rest,
    start: nodeOf(resolve(start)),
    steps: ((steps as typeof steps | undefined) ?? []).map(stepNode),
    ...flag("anyOrder", anyOrder),
    ...flag("repeat", repeat),
  });
  const stepIs = (step: string, is: "current" | "completed") =>
    condition({ kind: "journeyStep", journey: id, step, is });
  function completed(): Trigger;
  function completed(name: Step): Condition;
  function completed(...names: Step[]): Trigger | Condition {
    return names.length === 0 ? trigger({ kind: "journeyCompleted", journey: id }) : stepIs(names[0]!, "completed");
  }
  return strictProxy(
    {
      ...part("journey", lower, id),
      id,
      ...membership((statuses: JourneyStatus[]) => condition({ kind: "journey", journey: id, statuses })),
      atStep: (name: Step) => stepIs(name, "current"),
      completed,
      started: () => trigger({ kind: "journeyStarted", journey: id }),
      stepCompleted: (step: Step) => trigger({ kind: "journeyStepCompleted", journey: id, step }),
      expired: () => trigger({ kind: "journeyExpired", journey: id }),
    },
    { owner: `the journey ${JSON.stringify(id)}` },
  );
}

/** A value that is not a step becomes null, which the validation refuses at its place. */
function stepNode(step: StepModel): StepNode {
  const lower = (step as Partial<StepModel> | null | undefined)?.[LOWER];
  return typeof lower === "function" ? lower() : (null as never);
}

/**
 * Declares a step of a journey: it is completed when its condition holds, and stays complete.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter; unique within the journey.
 * @param options with `since: "previousStep"`, the condition counts from the completion of the previous step, not from the journey's
 *   start.
 */
export function step<const Id extends string>(
  id: Id,
  when: Lazy<Condition>,
  options: { since?: "previousStep" } = {},
): StepModel<Id> {
  return { ...part("step", () => ({ id, when: nodeOf(resolve(when)), ...options })), id };
}
