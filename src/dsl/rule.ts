import type { Action as ActionNode, Rule as RuleNode } from "../model/snapshot/types.js";
import { type Condition, type Duration, type Lazy, nodeOf, resolve } from "./condition.js";
import type { ManualSegment } from "./segment.js";
import type { ManualSignal } from "./signal.js";
import { definitionOf } from "./mistakes.js";
import { ACTION, flag, type Occasion, type Part, part, triggerOf, withSourceLocation } from "./part.js";

/** What a rule does when it passes. */
export interface Action {
  readonly [ACTION]: ActionNode;
}

/** Adds the customer to a segment that has no condition. Does nothing if the customer is already in it. */
export function addTo(segment: ManualSegment): Action {
  return action({ kind: "addToSegment", segment: segment.id });
}

/** Removes the customer from a segment that has no condition. Does nothing if the customer is not in it. */
export function removeFrom(segment: ManualSegment): Action {
  return action({ kind: "removeFromSegment", segment: segment.id });
}

/** What is emitted in addition to the type. */
export interface EmissionText {
  /**
   * A message for people, for example in a chat: `"{name} has {seats} seats, ask {owner}"`. `{name}` and `{owner}` are those that the
   * model's display names, `{customerId}` is the id, and `{<trait>}` is a trait; write `{{` and `}}` for literal braces.
   */
  message?: string;
}

/** Emits an event type of your own, such as "upsell.ready", to webhooks and the customer's timeline. */
export function emit(type: string, text: EmissionText = {}): Action {
  return action({ kind: "emit", type, ...text });
}

/** Raises a signal that has no condition. Raising it again renews its `for` and emits nothing. */
export function raise(signal: ManualSignal): Action {
  return action({ kind: "raiseSignal", signal: signal.id });
}

/** Clears a signal that has no condition. Does nothing if it is not raised. */
export function clear(signal: ManualSignal): Action {
  return action({ kind: "clearSignal", signal: signal.id });
}

function action(node: ActionNode): Action {
  return { [ACTION]: withSourceLocation(node) };
}

/** An action that is carried out when something happens. */
export interface RuleModel extends Part<"rule", RuleNode> {
  readonly id: string;
}

/** The definition of a rule. */
export type RuleDefinition = {
  /** What it waits for: an event, `event.where(…)`, `traitsChanged`, `stages.entered("at_risk")`, `segment.entered()`, `signal.raised()`, … */
  on: Lazy<Occasion>;
  /** Tested when the trigger occurs, and only then; without it the rule always acts. */
  when?: Lazy<Condition>;
  then: Lazy<Action>;
} & RuleLimit;

type RuleLimit =
  | {
      /** After it has acted, the rule skips for this long: [pass, pass + cooldown). */
      cooldown?: Duration;
      once?: never;
    }
  | {
      /** The rule acts once for each customer, and then never again. */
      once?: boolean;
      cooldown?: never;
    };

/**
 * Declares a rule: when `on` occurs and `when` holds, `then` is carried out, at most once in each evaluation. Every run is logged as pass,
 * fail (the condition did not hold), skip (it held, but `cooldown` or `once` prevented the action) or error.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter.
 */
export function rule(id: string, definition: RuleDefinition): RuleModel {
  definitionOf(definition, "rule(…)", "on and then");
  const lower = (): RuleNode => {
    const { on, when, then, once, ...limits } = definition;
    return {
      id,
      ...limits,
      on: triggerOf(resolve(on)),
      ...("when" in definition ? { when: nodeOf(resolve(when)) } : {}),
      ...flag("once", once),
      then: resolve<Action | undefined>(then)?.[ACTION] ?? (null as never),
    };
  };
  return { ...part("rule", lower, id), id };
}
