import { corrections, type CustomerState } from "../../../src/engine/index.js";
import { compile } from "./builders.js";
import { Run } from "./runner.js";
import type { NewSubject, View } from "./subject.js";
import { replay } from "./whole-history.js";

export const underEngine: NewSubject = (snapshot, customerId, createdAt) => {
  let model = compile(snapshot);
  const run = new Run(model, "pages", { customerId, createdAt });
  return {
    effects: run.effects,
    take: (operations, now, timers) => run.take(operations, { now, timers }),
    changeVersion(next) {
      model = compile(next);
      run.changeVersion(model);
    },
    view: () => viewOfState(run.state),
    replay(through, jobId) {
      const { state, effects } = replay(model, { ...run.state, events: run.evaluated(), through });
      return {
        view: viewOfState(state),
        effects,
        corrections: corrections(run.state, state, { at: through, jobId }),
      };
    },
  };
};

export function viewOfState(state: CustomerState): View {
  const { evaluatedThrough, lastEventAt, nextDueAt, traits, lifecycle, journeys, health, signals } = state;
  const segments = Object.fromEntries(Object.entries(state.segments).map(([id, { enteredAt }]) => [id, enteredAt]));
  return { evaluatedThrough, lastEventAt, nextDueAt, traits, lifecycle, journeys, segments, health, signals };
}
