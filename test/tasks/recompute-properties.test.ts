import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { stateDocument } from "../../src/engine/index.js";
import { FINAL_INSTANT, operations } from "../engine/support/arbitrary.js";
import { Coverage } from "../engine/support/runner.js";
import { replay } from "../engine/support/whole-history.js";
import { useDatabase } from "../support/database.js";
import { deployable, engineOperations, iso, modelOf, newRun, testOperation } from "./support/engine.js";
import { TestEnvironment } from "./support/environment.js";
import { everything } from "./support/kept.js";
import { differencesOf, jobOf, JobRunner } from "./support/recompute.js";
import { added, executionLines, executionsOf, transitionLines, transitionsOf } from "./support/replayed.js";
import { propertyRuns } from "../support/property-runs.js";

const db = await useDatabase();
const runner = new JobRunner(db);

afterAll(() => runner.end());

const RUNS = propertyRuns(20);
const CUSTOMERS = ["a", "b"];
const cases = fc.tuple(deployable, deployable, operations, fc.boolean());
/** Together these cover every required case, whatever the random ones are. */
const COVERING = fc.sample(cases, { seed: 2, numRuns: 3 });

it(
  "a recompute saves what a replay in the engine derives, a dry run predicts that, and a second one changes nothing",
  { timeout: 60_000 + 4_000 * RUNS },
  async () => {
    const coverage = new Coverage();
    await fc.assert(
      fc.asyncProperty(cases, async ([first, second, sequence, changes]) => {
        if (sequence.length === 0) return;
        const environment = await TestEnvironment.create(db.sql, first);
        const sent = sequence.map(testOperation);
        const seqs: number[][] = [];
        for (const customer of CUSTOMERS) {
          seqs.push(await environment.ingest(sent.map((operation) => ({ ...operation, customer }))));
        }
        await environment.evaluate({ at: iso(FINAL_INSTANT) });
        const at = iso(FINAL_INSTANT);
        const given = changes ? second : first;
        const initial = await everything(environment);
        const preview = await runner.complete(environment, { kind: "preview", snapshot: given, at });
        const previewed = await differencesOf(db.sql, preview);
        expect(await everything(environment)).toEqual(initial);
        if (changes) await environment.deploy(second);
        const model = modelOf(given);

        const logs = async (): Promise<string[][]> =>
          Promise.all(CUSTOMERS.map((customer) => executionsOf(environment, customer)));
        const gained = (before: string[][], after: string[][]): number =>
          after.flatMap((lines, index) => added(before[index]!, lines)).length;
        const logBefore = await logs();
        const dry = await runner.complete(environment, { kind: "dry_run", at });
        const before = await everything(environment);
        const real = await runner.complete(environment, { at });
        const found = await differencesOf(db.sql, dry);
        const done = await differencesOf(db.sql, real);
        expect(anonymous(done, real)).toEqual(anonymous(found, dry));
        expect(totals(await jobOf(db.sql, real))).toEqual(totals(await jobOf(db.sql, dry)));

        const logAfter = await logs();
        const gains = (part: "segments" | "signals", from: "before" | "after", to: "before" | "after") =>
          done.flatMap(({ [part]: ids }) => ids[to].filter((id) => !ids[from].includes(id))).length;
        expect(await jobOf(db.sql, real)).toMatchObject({
          segments_entered: gains("segments", "before", "after"),
          segments_exited: gains("segments", "after", "before"),
          signals_raised: gains("signals", "before", "after"),
          signals_cleared: gains("signals", "after", "before"),
          rules_added: gained(logBefore, logAfter),
          rules_removed: gained(logAfter, logBefore),
        });

        if (!changes) expect(previewed, "late events are no difference between two replays").toEqual([]);
        for (const { customerId, ...parts } of previewed) {
          const names = ["lifecycle", "segments", "journeys", "health"] as const;
          const after = Object.fromEntries(names.map((name) => [name, parts[name].after]));
          expect(await environment.document(customerId)).toMatchObject(after);
          coverage.add("previewed");
        }
        for (const [index, customer] of CUSTOMERS.entries()) {
          const live = newRun(modelOf(first), customer, sent[0]!.at);
          live.take(engineOperations(sent, seqs[index]!), { now: FINAL_INSTANT, timers: "fire" });
          const { state, effects } = replay(model, {
            ...live.state,
            events: live.evaluated(),
            through: Math.max(FINAL_INSTANT, live.state.evaluatedThrough ?? 0),
          });
          const configVersion = changes && modelOf(first).hash !== modelOf(second).hash ? "v2" : "v1";
          expect(await environment.document(customer)).toEqual({
            ...stateDocument(state, { environment: "test", configVersion }),
            nextDueAt: expect.toSatisfy(() => true) as unknown,
            traits: expect.toSatisfy(() => true) as unknown,
          });
          expect(await transitionsOf(environment, customer)).toEqual(transitionLines(effects));
          expect(await executionsOf(environment, customer)).toEqual(executionLines(effects));
          coverage.addEffects(effects);
        }
        for (const { lifecycle, segments, signals, emissions } of found) {
          if (lifecycle.before !== lifecycle.after) coverage.add("lifecycle changes");
          if (segments.before.join() !== segments.after.join()) coverage.add("segments change");
          if (signals.before.join() !== signals.after.join()) coverage.add("signals change");
          if (emissions.some(({ eventType }) => eventType === "journey.expired")) coverage.add("expiration");
        }

        const after = await everything(environment);
        expect({ events: after.events, updates: after.updates }).toEqual({
          events: before.events,
          updates: before.updates,
        });
        expect(after.emissions.slice(0, before.emissions.length)).toEqual(before.emissions);
        const again = await runner.complete(environment, { at });
        expect(await differencesOf(db.sql, again)).toEqual([]);
        const twice = await everything(environment);
        expect(twice).toEqual(after);
      }),
      { numRuns: RUNS, examples: COVERING.map((one) => [one]) },
    );
    console.log(`recompute: ${coverage.toString()}`);
    for (const name of ["lifecycle changes", "segments change", "expiration", "previewed"])
      expect(coverage.of(name)).toBeGreaterThan(0);
  },
);

/** The differences without the job's id, in which a dry run and a run differ. */
function anonymous(differences: unknown, id: string): unknown {
  return JSON.parse(JSON.stringify(differences).replaceAll(id, "job"));
}

function totals(job: Awaited<ReturnType<typeof jobOf>>): object {
  const { attempt: _attempt, ...rest } = job;
  return rest;
}
