import {
  replayPart,
  type CustomerState,
  type Effect,
  type Model,
  type Operation,
  type TrackOperation,
} from "../../../src/engine/index.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { FINAL_INSTANT } from "./arbitrary.js";
import { compile } from "./builders.js";
import { Run, withHistory } from "./runner.js";
import { replay } from "./whole-history.js";

/** Live evaluation one operation at a time, and the replay of its events through the final instant. */
export function replayOf(given: Snapshot, sequence: readonly Operation[]) {
  const model = compile(given);
  const createdAt = sequence[0]!.acceptedAt;
  const run = new Run(model, "whole", { customerId: "c1", createdAt });
  for (const operation of sequence) run.take([operation]);
  run.tick(FINAL_INSTANT);
  const replayed = replay(model, { ...run.state, events: run.evaluated(), through: FINAL_INSTANT });
  return { run, model, createdAt, replayed };
}

type Part = Omit<Parameters<typeof replayPart>[2], "state" | "history"> & { events: readonly TrackOperation[] };

/** The same replay in parts; `partOf` chooses the events of each part from the remaining ones. Earlier events are available only on request. */
export function replayedInParts(
  run: Run,
  model: Model,
  partOf: (left: Part["events"], part: number) => Part,
): ReturnType<typeof replay> {
  const events = run.evaluated();
  const effects: Effect[] = [];
  let state: CustomerState | null = null;
  for (let part = 0, from = 0; ; part++) {
    const before = JSON.parse(JSON.stringify(state)) as CustomerState | null;
    const given = partOf(events.slice(from), part);
    const next: ReturnType<typeof replayPart> = withHistory(events.slice(0, from), "pages", [], (history) =>
      replayPart(model, run.state, { ...given, state: before, history }),
    );
    effects.push(...next.effects);
    state = next.state;
    from += next.taken;
    if (given.through !== null && next.isDone) return { state, effects };
  }
}
