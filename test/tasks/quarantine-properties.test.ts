import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { ingestBatch } from "../../src/db/api/ingestion.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { count, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { violations } from "../support/invariants.js";
import { propertyRuns } from "../support/property-runs.js";
import { TestEnvironment } from "./support/environment.js";
import { JobRunner } from "./support/recompute.js";

const db = await useDatabase();
const runner = new JobRunner(db);
afterAll(() => runner.end());

const RUNS = propertyRuns(15);
const AT = "2026-03-01T00:00:00.000Z";
/** After everything that is sent and accepted. */
const FINAL = "2099-01-01T00:00:00.000Z";

/** Accepts everything that is sent here. */
const wide: Snapshot = {
  ...snapshotOf({
    states: { new: [["activated", count("paid", "gte", 2)]], activated: [] },
    segments: { pro: { kind: "trait", trait: "plan", operator: "eq", value: "pro" }, busy: count("login", "gte", 3) },
  }),
  strictSchema: true,
  events: {
    paid: { properties: { x: { type: "number", optional: true } } },
    odd: { properties: {} },
    login: { properties: {} },
  },
  traits: { plan: { type: "string" }, level: { type: "number" } },
};
/** Quarantines some of what `wide` accepts: an event, a property and a trait. */
const narrow: Snapshot = {
  ...wide,
  onViolation: "quarantine",
  events: { paid: { properties: {} }, login: { properties: {} } },
  traits: { plan: { type: "string" } },
};

const customer = fc.constantFrom("a", "b", "c");
const instant = fc
  .integer({ min: 0, max: 20 * 24 })
  .map((hours) => new Date(Date.parse(AT) + hours * 3_600_000).toISOString());
const key = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
const operation = fc.oneof(
  fc.record({
    customerId: customer,
    event: fc.constantFrom("paid", "login", "odd"),
    x: fc.boolean(),
    timestamp: instant,
    key,
  }),
  fc.record({
    type: fc.constant("identify"),
    customerId: customer,
    traits: fc.dictionary(fc.constantFrom("plan", "level"), fc.constantFrom("pro", "free", null), {
      minKeys: 1,
      maxKeys: 2,
    }),
  }),
);
type Drawn =
  | { type: string; traits: Record<string, unknown>; customerId: string }
  | { event: string; x: boolean; key?: number | undefined; timestamp: string; customerId: string };

/** An operation as it is sent. Each key has one payload, so that none conflicts. */
function sent(drawn: Drawn): object {
  if ("traits" in drawn) {
    const traits = Object.entries(drawn.traits).map(([name, value]) => [
      name,
      name === "level" ? (value === null ? null : 1) : value,
    ]);
    return { ...drawn, traits: Object.fromEntries(traits) as object };
  }
  const { key, x, ...event } = drawn;
  const kept =
    key === undefined
      ? event
      : { customerId: "abc"[key % 3], event: ["paid", "odd"][key % 2], timestamp: AT, idempotencyKey: `k${key}` };
  return x && kept.event === "paid" ? { ...kept, properties: key === undefined ? { x: 1 } : {} } : kept;
}

const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 });

/** The stored operations of an environment, in order of acceptance, each with the table that holds it. */
const storedIn = ({ environmentId }: TestEnvironment) => db.sql<{ seq: string; place: string }[]>`
  select s.seq, s.place
  from (
    select event_seq as seq, 'event' as place from svc.events where environment_id = ${environmentId}
    union all select operation_seq, 'traits' from svc.trait_updates where environment_id = ${environmentId}
    union all select seq, 'quarantine' from svc.quarantined_operations where environment_id = ${environmentId}
  ) as s
  order by s.seq`;

/** Sets the instant at which a call was accepted. */
async function accept({ environmentId }: TestEnvironment, batchId: string, at: Date): Promise<void> {
  const [batch] = await db.sql<[{ seq: string }?]>`
    update svc.ingest_batches set accepted_at = ${at}
    where environment_id = ${environmentId} and batch_id = ${batchId} returning batch_seq as seq`;
  if (batch === undefined) return;
  const { seq } = batch;
  await db.sql`update svc.events set accepted_at = ${at} where environment_id = ${environmentId} and event_seq >> 10 = ${seq}`;
  await db.sql`
    update svc.trait_updates set accepted_at = ${at} where environment_id = ${environmentId} and operation_seq >> 10 = ${seq}`;
  await db.sql`
    update svc.quarantined_operations set quarantined_at = ${at} where environment_id = ${environmentId} and seq >> 10 = ${seq}`;
}

async function releaseAll(environment: TestEnvironment, ids?: string[]): Promise<number> {
  let released = 0;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const filter = ids === undefined ? {} : { ids };
    const answer = await call(db.sql, "release_quarantined", environment.by, environment.place, filter, cursor, null);
    const step = JSON.parse(answer) as { released: number; nextCursor: string | null };
    released += step.released;
    cursor = step.nextCursor;
  }
  return released;
}

/** The relevant parts of states: without bookkeeping of evaluation, and what differs between environments. */
async function states(environment: TestEnvironment) {
  await environment.evaluate({ at: FINAL });
  const direct = await Promise.all(["a", "b", "c"].map((id) => environment.document(id)));
  await runner.complete(environment, { at: FINAL });
  const replayed = await Promise.all(["a", "b", "c"].map((id) => environment.document(id)));
  const compared = (document: (typeof direct)[number]) => ({
    ...document,
    createdAt: null,
    configVersion: null,
    evaluatedThrough: null,
    nextDueAt: null,
  });
  return {
    // Without a replay, only what does not depend on the order of evaluation.
    direct: direct.map(({ traits, segments, lastEventAt }) => ({ traits, segments, lastEventAt })),
    replayed: replayed.map(compared),
  };
}

it(
  "stores, repeats or quarantines each operation, and after the release the result is as if all had been accepted at first",
  { timeout: 60_000 + 8_000 * RUNS },
  async () => {
    let quarantined = 0;
    await fc.assert(
      fc.asyncProperty(batches, fc.boolean(), fc.boolean(), async (drawn, evaluates, inParts) => {
        const held = await TestEnvironment.create(db.sql);
        const accepting = await TestEnvironment.create(db.sql);
        await deployExactly(held, narrow);
        await deployExactly(accepting, wide);
        // All customers exist already: an identify that changes nothing does not create one.
        const first = ["a", "b", "c"].map((customerId) => ({ customerId, event: "login", timestamp: AT }));
        const calls = [first, ...drawn.map((batch) => batch.map((one) => sent(one as Drawn)))];
        let [accepted, repeated] = [0, 0];
        const begun = Date.now() - 60_000;
        for (const [n, events] of calls.entries()) {
          const body = JSON.stringify({ events });
          for (const environment of [held, accepting]) {
            const call = { keyHash: environment.keyHash, batchId: crypto.randomUUID(), repeated: false };
            const answer = await ingestBatch(db.sql, call, body);
            await accept(environment, call.batchId, new Date(begun + 1000 * n));
            expect(answer.accepted).toBe(events.length);
            if (environment === held) [accepted, repeated] = [accepted + answer.accepted, repeated + answer.repeated];
          }
          if (evaluates && n === 0) await held.evaluate({ at: FINAL });
        }
        const before = await storedIn(held);
        expect(before).toHaveLength(accepted - repeated);
        const kept = before.filter(({ place }) => place === "quarantine");
        quarantined += kept.length;
        expect(before.length).toBe((await storedIn(accepting)).length);
        expect(await violations(db.sql)).toEqual([]);

        expect(await releaseAll(held)).toBe(0);
        await deployExactly(held, wide);
        if (inParts && kept.length > 0) {
          const last = `qop_${BigInt(kept.at(-1)!.seq).toString(16).padStart(16, "0")}`;
          expect(await releaseAll(held, [last])).toBe(1);
          await held.evaluate({ at: FINAL });
          expect(await releaseAll(held)).toBe(kept.length - 1);
        } else expect(await releaseAll(held)).toBe(kept.length);
        expect(await releaseAll(held)).toBe(0);
        expect((await storedIn(held)).map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq));
        expect(await violations(db.sql)).toEqual([]);
        // Repeating the calls stores only traits, which have no key.
        expect(await states(held)).toEqual(await states(accepting));
      }),
      { numRuns: RUNS },
    );
    expect(quarantined).toBeGreaterThan(0);
  },
);

async function deployExactly(environment: TestEnvironment, snapshot: Snapshot): Promise<void> {
  const { canonicalJson, hashSnapshot } = await import("../../src/model/snapshot/canonical.js");
  const version = { snapshot: canonicalJson(snapshot), hash: hashSnapshot(snapshot), provenance: null, expected: null };
  await call(db.sql, "deploy_config", environment.by, environment.place, { ...version, force: true });
}
