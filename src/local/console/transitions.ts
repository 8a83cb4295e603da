import type { QuestionParams } from "../../console/source.js";
import type { ListedTransition, TransitionTimes } from "../../http/admin/answers.js";
import { calendarSpan } from "../../http/request/instants.js";
import { compareTexts, requireKnown } from "./lists.js";
import { aboutEffect, quartilesOf, type PopulationView } from "./population-view.js";

/** All transitions, the latest first. */
function transitionsOf({ population }: PopulationView): ListedTransition[] {
  return population.customerIds
    .flatMap((customerId) =>
      population.effects(customerId).flatMap((effect) => {
        if (effect.kind !== "transition") return [];
        return [{ customerId, from: effect.from, to: effect.to, ...aboutEffect(effect) }];
      }),
    )
    .toReversed()
    .toSorted((a, b) => compareTexts(b.at, a.at));
}

/** Transitions, filtered by the state they left (empty for no state), the state they entered, and a span of days, if given. */
export function localTransitions(view: PopulationView, of: QuestionParams): ListedTransition[] {
  const { left, entered } = of;
  const { from: first = "", to: last = "9999-12-31" } = calendarSpan(of["from"], of["to"]);
  const found = transitionsOf(view).filter(
    ({ from, to, at }) =>
      (entered === undefined || to === entered) &&
      (left === undefined || (from ?? "") === left) &&
      at.slice(0, 10) >= first &&
      at.slice(0, 10) <= last,
  );
  // Empty: the transitions from no state.
  const named = left === "" ? { ...of, left: undefined } : of;
  if (found.length === 0) requireKnown(view.engine, named, { left: "state", entered: "state" });
  return found;
}

/** How long customers were in the states that they left. */
export function localTransitionTimes(view: PopulationView): TransitionTimes {
  const all = transitionsOf(view).toReversed();
  const since = new Map<string, number>();
  const taken = new Map<string, number[]>();
  for (const { customerId, from, at } of all) {
    const now = Date.parse(at);
    const before = since.get(customerId);
    if (from !== null && before !== undefined) taken.set(from, [...(taken.get(from) ?? []), (now - before) / 1000]);
    since.set(customerId, now);
  }
  const states = [...taken]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([state, seconds]) => ({ state, left: seconds.length, seconds: quartilesOf(seconds) }));
  return { transitions: all.length, states };
}
