import type { Journey as JourneyNode, JourneyStatus, JourneyStep as StepNode } from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, type Lazy, membership, nodeOf, resolve } from "./condition.js";
import { definitionOf, strictProxy } from "./mistakes.js";
import { flag, LOWER, type Part, part, trigger, type Trigger } from "./part.js";

/** A journey: steps that a customer goes through after a start, until all are done or time is over. */
export interface JourneyModel<Step extends string = string> extends AnyJourney {
  /** Holds while the present or last run has this status; "not_started" before the first. */
  is(status: JourneyStatus): Condition;
  /** Holds while the present or last run has one of these statuses. */
  in(...statuses: JourneyStatus[]): Condition;
  /** Holds while the present or last run has another status. */
  isNot(status: JourneyStatus): Condition;
  /** Holds while the journey is active and this is the step it is at: the first in order that is not done. */
  atStep(step: Step): Condition;
  /** For a rule's `on`: the last step is completed, and with it the run. */
  completed(): Trigger;
  /** Holds when the present or last run has completed this step. */
  completed(step: Step): Condition;
  /** For a rule's `on`: a run starts. */
  started(): Trigger;
  /** For a rule's `on`: a run completes this step. */
  stepCompleted(step: Step): Trigger;
  /** For a rule's `on`: a run expires. */
  expired(): Trigger;
}

/** A journey of any steps. */
export interface AnyJourney extends Part<"journey", JourneyNode> {
  readonly id: string;
}

/** A step of a journey. */
export interface StepModel<Id extends string = string> extends Part<"step", StepNode> {
  readonly id: Id;
}

/** What a journey consists of. */
export interface JourneyDefinition<Step extends string> {
  /** Starts the first run when it holds. With `repeat`, it starts another one by what happened after the end of the last, whatever `since` it asks for. */
  start: Lazy<Condition>;
  /** At least one; in their order unless `anyOrder`. */
  steps: readonly StepModel<Step>[];
  /** Whether steps may be completed in any order. */
  anyOrder?: boolean;
  /** A run that is not complete this long after its start is expired; without it a run never ends unfinished. */
  expiresAfter?: Duration;
  /** Whether a new run may start after the end of one. Otherwise completion and expiry are for good. */
  repeat?: boolean;
}

/**
 * Declares a journey. It is active from its start until its last step is complete, or until `expiresAfter` has passed. What steps read
 * counts from the start, so that a checklist remembers what was done early; a step with `since: "previousStep"` counts from the previous
 * step, as in a funnel. The event that starts a journey does not count for its steps.
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

/** What is no step becomes null, which the validation refuses at its place. */
function stepNode(step: StepModel): StepNode {
  const lower = (step as Partial<StepModel> | null | undefined)?.[LOWER];
  return typeof lower === "function" ? lower() : (null as never);
}

/**
 * Declares a step of a journey: it is complete, for good, when its condition holds.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter; unique within the journey.
 * @param options `since: "previousStep"` counts what the condition reads from the completion of the previous step, not from the
 *   journey's start.
 */
export function step<const Id extends string>(
  id: Id,
  when: Lazy<Condition>,
  options: { since?: "previousStep" } = {},
): StepModel<Id> {
  return { ...part("step", () => ({ id, when: nodeOf(resolve(when)), ...options })), id };
}
