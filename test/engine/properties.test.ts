import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { evaluateAt } from "../../src/engine/evaluation.js";
import { compileModel, type Effect, type Operation } from "../../src/engine/index.js";
import { Working } from "../../src/engine/working.js";
import { hashSnapshot } from "../../src/snapshot/canonical.js";
import type { Snapshot } from "../../src/snapshot/types.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import { Reference } from "./support/reference.js";
import { check, Coverage, Run, timeout } from "./support/runner.js";

const HOUR = 3_600_000;
const compile = (model: Snapshot): ReturnType<typeof compileModel> => compileModel(model, hashSnapshot(model));

describe("random models and operations", () => {
  it("end as a plain reading of the rules says, after every step", { timeout }, () => {
    const coverage = new Coverage();
    const between = fc.array(fc.constantFrom("none", "none", "none", "tick", "version"), { maxLength: 14 });
    check(
      fc.property(snapshot, snapshot, operations, between, (first, second, given, steps) => {
        const run = new Run(compile(first));
        const reference = new Reference(first);
        let present = first;
        given.forEach((operation, i) => {
          run.take([operation]);
          reference.take(operation);
          expect(view(run)).toEqual(viewOf(reference));
          if (steps[i] === "tick") {
            run.tick(operation.acceptedAt);
            reference.catchUp(operation.acceptedAt);
          } else if (steps[i] === "version") {
            present = present === first ? second : first;
            run.changeVersion(compile(present));
            reference.changeVersion(present);
            coverage.add("version change");
          }
          expect(view(run)).toEqual(viewOf(reference));
        });
        run.tick(FINAL_INSTANT);
        reference.catchUp(FINAL_INSTANT);
        expect(view(run)).toEqual(viewOf(reference));
        coverage.addOperations(given);
        coverage.addEffects(run.effects);
      }),
    );
    console.info(`against the reference: ${coverage}`);
    for (const what of ["late", "same instant", "future", "identify", "version change", "blocked by event"]) {
      expect(coverage.of(what), what).toBeGreaterThan(0);
    }
  });

  it("do not depend on how the operations are split into batches and ticks", { timeout }, () => {
    const coverage = new Coverage();
    const cuts = fc.array(
      fc.record({ cut: fc.boolean(), tick: fc.option(fc.constantFrom(0, 1, 4 * 60_000, 6 * HOUR)) }),
      { minLength: 14, maxLength: 14 },
    );
    check(
      fc.property(snapshot, operations, cuts, (given, sequence, splits) => {
        const model = compile(given);
        const { one, limits } = oneAtATime(new Run(model), sequence);
        const batched = new Run(model);
        let batch: Operation[] = [];
        sequence.forEach((operation, i) => {
          const { cut, tick } = splits[i]!;
          if (cut) {
            batched.take(batch);
            batch = [];
            coverage.add("batch");
            if (tick !== null) {
              batched.tick(limits[i]! - tick);
              coverage.add("tick");
            }
          }
          batch.push(operation);
        });
        batched.take(batch);
        batched.tick(FINAL_INSTANT);
        expect(batched.effects).toEqual(one.effects);
        expect(batched.state).toEqual(one.state);
        coverage.addOperations(sequence);
        coverage.addEffects(one.effects);
      }),
    );
    console.info(`batches and ticks: ${coverage}`);
    expect(coverage.of("tick")).toBeGreaterThan(0);
  });

  it("change nothing but the clock at an instant before anything is due", { timeout }, () => {
    const coverage = new Coverage();
    check(
      fc.property(snapshot, operations, fc.nat(), fc.boolean(), (given, sequence, seed, justBefore) => {
        const model = compile(given);
        const run = new Run(model);
        run.take(sequence);
        const { evaluatedThrough, nextDueAt } = run.state;
        // A merged identify is still to be evaluated: whatever comes before it is due sees the new traits.
        if (evaluatedThrough === null || run.state.traitsDueAt.length > 0) return coverage.add("not applicable");
        if (lastEvaluationBlocked(run.effects, evaluatedThrough)) return coverage.add("flapping, left out");
        const last = (nextDueAt ?? evaluatedThrough + 100 * HOUR) - 1;
        if (last <= evaluatedThrough) return coverage.add("due at once");
        const instant = justBefore ? last : evaluatedThrough + 1 + (seed % (last - evaluatedThrough));
        const customer = new Working(model, run.state);
        evaluateAt(customer, instant, "timer");
        expect(customer.effects).toEqual([]);
        const timerDueAt = run.state.timerDueAt ?? Infinity;
        expect(customer.timerDueAt).toBe(timerDueAt);
        expect(customer.toState(nextDueAt ?? Infinity)).toEqual({ ...run.state, evaluatedThrough: instant });
        coverage.add(justBefore ? "at the last instant before" : "in between");
        coverage.addEffects(run.effects);
      }),
    );
    console.info(`before the due instant: ${coverage}`);
    expect(coverage.of("in between")).toBeGreaterThan(0);
  });
});

function view(run: Run): unknown {
  const { state } = run;
  return {
    clock: state.evaluatedThrough,
    lastEventAt: state.lastEventAt,
    nextDueAt: state.nextDueAt,
    lifecycle: state.lifecycle && [state.lifecycle.state, state.lifecycle.enteredAt, state.lifecycle.cause?.seq],
    segments: new Map(Object.entries(state.segments).map(([id, { enteredAt }]) => [id, enteredAt])),
    traits: state.traits,
    effects: run.effects.map(text),
  };
}

function viewOf(reference: Reference): unknown {
  const { lifecycle } = reference;
  return {
    clock: reference.clock,
    lastEventAt: reference.lastEventAt,
    nextDueAt: reference.nextDueAt(),
    lifecycle: lifecycle && [lifecycle.state, lifecycle.enteredAt, lifecycle.cause?.seq],
    segments: reference.segments,
    traits: reference.traits,
    effects: reference.effects,
  };
}

function text(effect: Effect): string {
  const by = effect.cause.kind === "event" ? effect.cause.eventId : effect.cause.kind;
  const what = {
    transition: () => effect.kind === "transition" && `${effect.from}→${effect.to}`,
    blocked: () => effect.kind === "blocked" && `${effect.from}→${effect.to}`,
    segmentEntered: () => effect.kind === "segmentEntered" && effect.segment,
    segmentExited: () => effect.kind === "segmentExited" && effect.segment,
    emission: () => effect.kind === "emission" && effect.type,
  }[effect.kind]();
  return `${effect.kind} ${what} at ${effect.at} by ${by}`;
}

/** The run of one operation at a time, and for each operation the last instant at which a tick may come before it. */
function oneAtATime(run: Run, sequence: Operation[]): { one: Run; limits: number[] } {
  const limits = sequence.map((operation) => {
    const limit = tickLimit(run, operation);
    run.take([operation]);
    return limit;
  });
  run.tick(FINAL_INSTANT);
  for (let i = limits.length - 2; i >= 0; i--) limits[i] = Math.min(limits[i]!, limits[i + 1]!);
  return { one: run, limits };
}

function tickLimit({ state, deferred }: Run, operation: Operation): number {
  const clock = state.evaluatedThrough ?? -Infinity;
  if (operation.kind === "track") return Math.max(clock, operation.occurredAt);
  const { acceptedAt } = operation;
  const last = state.lastTrack;
  if (last === null || last.acceptedAt > last.occurredAt + 300_000) return clock;
  // A tick at the very instant would evaluate what is to come with or after this identify.
  const isShared = state.traitsDueAt.includes(acceptedAt) || deferred.some((one) => one.occurredAt === acceptedAt);
  return isShared ? acceptedAt - 1 : acceptedAt;
}

function lastEvaluationBlocked(effects: Effect[], clock: number): boolean {
  return effects.some((effect) => effect.kind === "blocked" && effect.at === clock);
}
