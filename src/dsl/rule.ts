import type { Rule as RuleNode } from "../snapshot/types.js";
import type { Action } from "./action.js";
import type { Condition, Duration } from "./condition.js";
import { nodeOf } from "./condition.js";
import { flag } from "./flag.js";
import type { Lazy } from "./lazy.js";
import { resolve } from "./lazy.js";
import { definitionOf } from "./model-error.js";
import type { Part } from "./part.js";
import { part } from "./part.js";
import { ACTION } from "./symbols.js";
import type { Occasion } from "./trigger.js";
import { triggerOf } from "./trigger.js";

/** Something that is done when something happens. */
export interface RuleModel extends Part<"rule", RuleNode> {
  readonly id: string;
}

/** What a rule consists of. */
export type RuleDefinition = {
  /** What it waits for: an event, `event.where(…)`, `traitsChanged`, `segment.entered()`, `signal.raised()`, … */
  on: Occasion;
  /** Asked when the trigger occurs, and only then; without it the rule always acts. */
  when?: Lazy<Condition>;
  then: Action;
} & RuleLimit;

type RuleLimit =
  | {
      /** After it has acted the rule skips for this long: [pass, pass + cooldown). */
      cooldown?: Duration;
      once?: never;
    }
  | {
      /** The rule acts once for each customer, and then never again. */
      once?: boolean;
      cooldown?: never;
    };

/**
 * Declares a rule: when `on` occurs and `when` holds, `then` is done, at most once in each evaluation. Every run is logged as pass, fail
 * (the condition did not hold), skip (it held, but `cooldown` or `once` forbade it) or error.
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
      on: triggerOf(on),
      ...("when" in definition ? { when: nodeOf(resolve(when)) } : {}),
      ...flag("once", once),
      then: (then as Action | undefined)?.[ACTION] ?? (null as never),
    };
  };
  return { ...part("rule", lower), id };
}
