import fc from "fast-check";
import { expect, it } from "vitest";
import { travelTo } from "../../src/evaluation/time-travel.js";
import { inOrder, FINAL_INSTANT, operations, snapshot, START } from "../engine/support/arbitrary.js";
import { inOrder as effectsInOrder } from "../engine/support/equal.js";
import { Reference } from "../engine/support/reference/reference.js";
import { replayed } from "../engine/support/reference/replay.js";
import { replayOf } from "../engine/support/replays.js";
import { pastEvents, timeout } from "../engine/support/runner.js";
import { viewOfState } from "../engine/support/subject-engine.js";
import { viewOfReference } from "../engine/support/subject-reference.js";
import { propertyRuns } from "../support/property-runs.js";

const RUNS = propertyRuns(60);

/** Travels to `at` with a history in parts of `size` events. */
function travel(
  { model, run }: ReturnType<typeof replayOf>,
  at: number,
  size: number,
  emissionsMax = Infinity,
): ReturnType<typeof travelTo> {
  const events = run.evaluated();
  const parts = (async function* () {
    for (let from = 0; ; from += size) {
      const isLast = from + size >= events.length;
      yield await Promise.resolve({ events: events.slice(from, from + size), isLast });
      if (isLast) return;
    }
  })();
  return travelTo({ model, input: run.state, at, parts, past: pastEvents(events), emissionsMax });
}

const instants = fc.oneof(
  fc.integer({ min: START - 86_400_000, max: FINAL_INSTANT }),
  fc.integer({ min: 0, max: 11 }), // the acceptance of an operation
);
const sizes = fc.integer({ min: 1, max: 5 });

it("at any instant, it equals a plain reading of the rules for everything up to then", { timeout }, async () => {
  let compared = 0;
  let before = 0;
  await fc.assert(
    fc.asyncProperty(snapshot, operations, instants, sizes, async (given, sequence, instant, size) => {
      const lived = replayOf(given, sequence);
      const { run, createdAt } = lived;
      const at = instant < 12 ? sequence[instant % sequence.length]!.acceptedAt : instant;
      const events = run.evaluated();
      const { firstEvaluatedAt: began } = run.state;
      const first = events[0]?.occurredAt ?? Infinity;
      // As for replays: the first evaluation is unknown if the first identify changed nothing.
      if (began === null || (began !== createdAt && began < first)) return;
      const travelled = await travel(lived, at, size);
      if (first > at && Math.max(createdAt, began) > at) {
        before++;
        expect(travelled).toBeNull();
        return;
      }
      const live = new Reference("c1", given);
      for (const operation of sequence) live.take(operation);
      live.catchUp(FINAL_INSTANT);
      const { customer } = live;
      customer.applied = customer.applied.filter(({ occurredAt }) => occurredAt <= at);
      if ((customer.lastEventAt ?? 0) > at) customer.lastEventAt = null;
      if ((live.traitsChangedAt ?? 0) > at) live.traitsChangedAt = null;
      const expected = replayed(given, live, createdAt, at);
      expect(viewOfState(travelled!.state)).toEqual(viewOfReference(expected));
      const emitted = effectsInOrder(expected.customer.effects).filter(({ kind }) => kind === "emission");
      expect(travelled!.emissions).toEqual(emitted);
      compared++;
    }),
    { numRuns: RUNS },
  );
  expect([compared > RUNS / 2, before > 0]).toEqual([true, true]);
});

it(
  "for operations in order, it equals what evaluation logged: at the customer's clock, at each transition and just before",
  { timeout },
  async () => {
    let transitions = 0;
    await fc.assert(
      fc.asyncProperty(snapshot, inOrder, sizes, async (given, sequence, size) => {
        if (sequence.length === 0) return;
        const lived = replayOf(given, sequence);
        const { state, effects } = lived.run;
        if (state.evaluatedThrough === null) return;
        const stateAt = async (at: number) => (await travel(lived, at, size))?.state ?? null;
        expect(viewOfState((await stateAt(FINAL_INSTANT))!)).toEqual(viewOfState(state));
        const log = effects.filter((effect) => effect.kind === "transition");
        const at = (instant: number) => log.findLast((entry) => entry.at <= instant)?.to ?? null;
        for (const { at: instant } of log) {
          expect((await stateAt(instant))?.lifecycle?.state).toBe(at(instant));
          expect((await stateAt(instant - 1))?.lifecycle?.state ?? null).toBe(at(instant - 1));
          transitions++;
        }
      }),
      { numRuns: RUNS },
    );
    expect(transitions).toBeGreaterThan(RUNS / 2);
  },
);

it("keeps the last emissions, and counts the rest", async () => {
  const emissionsOf = (of: ReturnType<typeof replayOf>) =>
    of.replayed.effects.filter(({ kind }) => kind === "emission");
  const lives = fc.sample(fc.tuple(snapshot, inOrder), { seed: 7, numRuns: 200 });
  const life = lives.find((one) => one[1].length > 0 && emissionsOf(replayOf(...one)).length > 3)!;
  const lived = replayOf(...life);
  const all = (await travel(lived, FINAL_INSTANT, 2))!.emissions;
  const last = await travel(lived, FINAL_INSTANT, 2, 2);
  expect([last!.emissions, last!.omitted]).toEqual([all.slice(-2), all.length - 2]);
});
