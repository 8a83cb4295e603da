import fc from "fast-check";
import { expect, it } from "vitest";
import { timersHeldUntil, type Model, type Operation } from "../../src/engine/index.js";
import { FINAL_INSTANT, operations } from "../engine/support/arbitrary.js";
import { Coverage, tickLimit } from "../engine/support/runner.js";
import { useDatabase } from "../support/database.js";
import {
  deployable,
  documentOf,
  emissionsOf,
  engineOperations,
  iso,
  logOf,
  modelOf,
  newRun,
  testOperation,
} from "./support/engine.js";
import { TestEnvironment, type TestOperation } from "./support/environment.js";
import { propertyRuns } from "../support/property-runs.js";

const db = await useDatabase();

const RUNS = propertyRuns(25);
/** The maximum number of rounds until all cases are covered. */
const ROUNDS = 5;
const SETTLE_SECONDS = 30;
/** All receive the same operations, so that chunks end between and within customers. */
const CUSTOMERS = ["a", "b", "c"];

it(
  "operations in random batches, evaluations and chunks end as one at a time in the engine, byte for byte",
  { timeout: 60_000 + 1_000 * RUNS * ROUNDS },
  async () => {
    const coverage = new Coverage();
    const cuts = fc.array(fc.constantFrom("none", "batch", "look", "look"), { minLength: 14, maxLength: 14 });
    const limits = fc.record({
      customers: fc.integer({ min: 1, max: 4 }),
      operations: fc.integer({ min: 1, max: 12 }),
    });
    const property = fc.asyncProperty(deployable, operations, cuts, limits, async (given, sequence, splits, chunks) => {
      const environment = await TestEnvironment.create(db.sql, given);
      const model = modelOf(given);
      const looks = lookable(model, sequence);

      const sent: { operation: TestOperation; seqs: number[] }[] = [];
      let batch: Operation[] = [];
      const send = async () => {
        sent.push(...(await sendToAll(environment, batch)));
        batch = [];
      };
      for (const [i, operation] of sequence.entries()) {
        batch.push(operation);
        const cut = splits[i] ?? "none";
        if (cut === "none") continue;
        await send();
        coverage.add("batch");
        if (cut === "batch" || !looks[i]) continue;
        await environment.evaluate({ at: iso(operation.acceptedAt), settleSeconds: SETTLE_SECONDS, limits: chunks });
        coverage.add("look");
      }
      await send();
      await environment.evaluate({ at: iso(FINAL_INSTANT), settleSeconds: SETTLE_SECONDS, limits: chunks });

      for (const [index, customer] of CUSTOMERS.entries()) {
        const run = newRun(model, customer, iso(sequence[0]!.acceptedAt));
        const taken = engineOperations(
          sent.map(({ operation }) => operation),
          sent.map(({ seqs }) => seqs[index]!),
        );
        for (const operation of taken) run.take([operation]);
        run.tick(FINAL_INSTANT);
        expect(JSON.stringify(await environment.document(customer))).toBe(documentOf(run));
        expect(await environment.emissions(customer)).toEqual(emissionsOf(run));
        expect(await environment.log(customer)).toEqual(logOf(run));
        coverage.addEffects(run.effects);
      }
      expect(await environment.pending()).toEqual([]);
      expect(await environment.setAside()).toEqual([]);
      coverage.addOperations(sequence);
      coverage.addModel(given);
    });
    const expected = [
      "look",
      "late",
      "future",
      "identify",
      "journey by event",
      "health by event",
      "rule pass by event",
    ];
    const check = () => fc.assert(property, { numRuns: RUNS });
    await check();
    for (let round = 1; round < ROUNDS && coverage.missing(expected).length > 0; round++) await check();
    console.info(`the cloud against the engine: ${coverage}`);
    expect(coverage.missing(expected)).toEqual([]);
  },
);

/** Sends a batch for every customer, one call per instant of acceptance, since a call has only one. */
async function sendToAll(
  environment: TestEnvironment,
  batch: Operation[],
): Promise<{ operation: TestOperation; seqs: number[] }[]> {
  const sent: { operation: TestOperation; seqs: number[] }[] = [];
  for (const instant of new Set(batch.map(({ acceptedAt }) => acceptedAt))) {
    const call = batch.filter(({ acceptedAt }) => acceptedAt === instant).map(testOperation);
    const seqs = await environment.ingest(
      call.flatMap((operation) => CUSTOMERS.map((customer) => ({ ...operation, customer }))),
    );
    const width = CUSTOMERS.length;
    sent.push(...call.map((operation, i) => ({ operation, seqs: seqs.slice(i * width, (i + 1) * width) })));
  }
  return sent;
}

/**
 * The operations after which an evaluation at their acceptance does not change the final result: where timers are held anyway, or where
 * everything after is evaluated at that instant or later. A customer's id decides when its health is due, so each one is checked.
 */
function lookable(model: Model, sequence: Operation[]): boolean[] {
  const each = CUSTOMERS.map((customer) => {
    const run = newRun(model, customer, iso(sequence[0]!.acceptedAt));
    const limits = sequence.map((operation) => {
      const limit = tickLimit(run, operation);
      run.take([operation]);
      const { lastTrack } = run.state;
      return { limit, held: timersHeldUntil(run.state) !== null && lastTrack?.acceptedAt === operation.acceptedAt };
    });
    return sequence.map(({ acceptedAt }, i) => {
      const follows = Math.min(...limits.slice(i + 1).map(({ limit }) => limit));
      return limits[i]!.held || acceptedAt <= follows;
    });
  });
  return sequence.map((_, i) => each.every((looks) => looks[i]));
}
