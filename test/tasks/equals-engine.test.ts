import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compileModel, isBackfilling, stateDocument, type Operation } from "../../src/engine/index.js";
import { canonicalJson, hashSnapshot } from "../../src/snapshot/canonical.js";
import { parseSnapshot } from "../../src/snapshot/validate.js";
import { FINAL_INSTANT, operations, snapshot } from "../engine/support/arbitrary.js";
import { Coverage, Run } from "../engine/support/runner.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { declared, TestEnvironment, type TestOperation } from "./support/environment.js";

let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

const RUNS = Number(process.env["SVC_PROPERTY_RUNS"] ?? 100);
const SETTLE_SECONDS = 30;
/** The engine takes more than may be deployed. */
const valid = snapshot.filter((one) => parseSnapshot(declared(one)).ok);
/** They are sent the same operations, so that chunks end between and within customers. */
const CUSTOMERS = ["a", "b", "c"];

it(
  "operations in random batches, looks and chunks end as one at a time in the engine",
  { timeout: 60_000 + 500 * RUNS },
  async () => {
    const coverage = new Coverage();
    const cuts = fc.array(fc.constantFrom("none", "batch", "look", "look"), { minLength: 14, maxLength: 14 });
    const limits = fc.record({
      customers: fc.integer({ min: 1, max: 4 }),
      operations: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(valid, operations, cuts, limits, async (given, sequence, splits, chunks) => {
        const environment = await TestEnvironment.create(db.sql, given);
        const run = new Run(compileModel(declared(given), hashSnapshot(declared(given))));
        const looks = oneAtATime(run, sequence);

        const seqs: number[] = [];
        let batch: Operation[] = [];
        const send = async () => {
          if (batch.length > 0) seqs.push(...(await sendToAll(environment, batch)));
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

        const eventIds = new Map(sequence.map(({ seq }, i) => [`e${seq}`, seqs[i]!]));
        const emissions = run.effects.flatMap((effect) => {
          if (effect.kind !== "emission") return [];
          const { type, source, metadata, at, cause } = effect;
          const position = cause.kind === "event" ? eventIds.get(cause.eventId)! : null;
          return [{ type, source, metadata, at: iso(at), cause: cause.kind, position }];
        });
        for (const [index, customer] of CUSTOMERS.entries()) {
          const text = await environment.documentText(customer);
          const expected = stateDocument(run.state, { environment: "test", configVersion: "v1" });
          expect(canonicalJson(JSON.parse(text!))).toBe(
            canonicalJson({ ...expected, customerId: customer, createdAt: iso(sequence[0]!.acceptedAt) }),
          );
          const written = await environment.emissions(customer);
          expect(
            written.map(({ type, source, metadata, at, cause, causeId }) => {
              const position = causeId === null ? null : Number.parseInt(causeId.slice(4), 16) - index;
              return { type, source, metadata, at, cause, position };
            }),
          ).toEqual(emissions);
        }
        expect(await environment.pending()).toEqual([]);
        expect(await environment.setAside()).toEqual([]);
        coverage.addOperations(sequence);
        coverage.addEffects(run.effects);
      }),
      { numRuns: RUNS },
    );
    console.info(`the cloud against the engine: ${coverage}`);
    for (const what of ["look", "late", "future", "identify"]) expect(coverage.of(what), what).toBeGreaterThan(0);
  },
);

/**
 * A call for each instant of acceptance, as it is one of the call. Answers the sequence numbers of the first customer's operations,
 * those of the others follow each.
 */
async function sendToAll(environment: TestEnvironment, batch: Operation[]): Promise<number[]> {
  const seqs: number[] = [];
  for (const instant of new Set(batch.map(({ acceptedAt }) => acceptedAt))) {
    const call = batch.filter(({ acceptedAt }) => acceptedAt === instant);
    seqs.push(
      ...(await environment.ingest(
        call.flatMap((operation) => CUSTOMERS.map((customer) => testOperation(operation, customer))),
      )),
    );
  }
  return seqs.filter((_, i) => i % CUSTOMERS.length === 0);
}

function testOperation(operation: Operation, customer: string): TestOperation {
  const at = iso(operation.acceptedAt);
  if (operation.kind === "identify") return { customer, at, traits: operation.traits };
  const { event, properties, occurredAt } = operation;
  return { customer, at, event, properties, occurred: iso(occurredAt) };
}

/**
 * Runs the engine, and tells after which operations a look at the time of their acceptance changes nothing in the end: where the timers
 * are held anyway, or where all that follows is evaluated at that instant or later.
 */
function oneAtATime(run: Run, sequence: Operation[]): boolean[] {
  const limits = sequence.map((operation) => {
    const limit = lookLimit(run, operation);
    run.take([operation]);
    const { lastTrack } = run.state;
    return { limit, held: isBackfilling(run.state) && lastTrack?.acceptedAt === operation.acceptedAt };
  });
  run.tick(FINAL_INSTANT);
  return sequence.map(({ acceptedAt }, i) => {
    const follows = Math.min(...limits.slice(i + 1).map(({ limit }) => limit));
    return limits[i]!.held || acceptedAt <= follows;
  });
}

/** The last instant at which timers may fire before an operation. */
function lookLimit({ state, deferred }: Run, operation: Operation): number {
  const clock = state.evaluatedThrough ?? -Infinity;
  if (operation.kind === "track") return Math.max(clock, operation.occurredAt);
  const { acceptedAt } = operation;
  const last = state.lastTrack;
  if (last === null || last.acceptedAt > last.occurredAt + 300_000) return clock;
  // A look at the very instant would evaluate what is to come with or after this identify.
  const isShared = state.traitsDueAt.includes(acceptedAt) || deferred.some((one) => one.occurredAt === acceptedAt);
  return isShared ? acceptedAt - 1 : acceptedAt;
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
