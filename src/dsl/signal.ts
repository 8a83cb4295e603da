import type { Severity, Signal as SignalNode } from "../model/snapshot/types.js";
import { type Condition, type Duration, type Lazy, nodeOf, resolve } from "./condition.js";
import { definitionOf, strictProxy } from "./mistakes.js";
import { type Part, part, trigger, type Trigger } from "./part.js";

/** Something about a customer that people should look at. It is raised and cleared for each customer. */
export interface SignalModel extends Part<"signal", SignalNode> {
  readonly id: string;
  /** For a rule's `on`: this signal is raised. */
  raised(): Trigger;
  /** For a rule's `on`: this signal is cleared. */
  cleared(): Trigger;
}

/** A signal without a condition: rules raise and clear it. */
export interface ManualSignal extends SignalModel {
  readonly manual: true;
}

/** The severity and text of a signal. */
export interface SignalText {
  severity: Severity;
  /** A message for the people who see it, the same for every customer: only the message of `emit` has placeholders. */
  message?: string;
}

/**
 * Declares a signal. With `when` it is raised when the condition becomes true and cleared when it becomes false. Without `when`, rules raise
 * and clear it with `raise` and `clear`; with `for`, it also clears itself that long after it was last raised.
 *
 * @param id lower-case letters, digits and underscores, beginning with a letter.
 */
export function signal(id: string, definition: SignalText & { when: Lazy<Condition>; for?: never }): SignalModel;
export function signal(id: string, definition: SignalText & { when?: never; for?: Duration }): ManualSignal;
export function signal(
  id: string,
  definition: SignalText & { when?: Lazy<Condition>; for?: Duration },
): SignalModel | ManualSignal {
  const { when, ...rest } = definitionOf(definition, "signal(…)", "a severity");
  const conditional = "when" in definition;
  const lower = (): SignalNode => ({ id, ...rest, ...(conditional ? { when: nodeOf(resolve(when)) } : {}) });
  return strictProxy(
    {
      ...part("signal", lower, id),
      id,
      ...(conditional ? {} : { manual: true as const }),
      raised: () => trigger({ kind: "signalRaised", signal: id }),
      cleared: () => trigger({ kind: "signalCleared", signal: id }),
    },
    { owner: `the signal ${JSON.stringify(id)}` },
  );
}
