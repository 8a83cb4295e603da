import fc from "fast-check";
import { emissionIdOf, eventIdOf } from "../../src/engine/index.js";
import { beforeAll, expect, it } from "vitest";
import { useDatabase } from "../support/database.js";
import { snapshot } from "../support/service.js";
import { TestEnvironment } from "./support/environment.js";

// Ids reveal their numbers, so the numbers of an environment must not depend on the activity of others.

const db = await useDatabase();
let one: TestEnvironment;
let other: TestEnvironment;
beforeAll(async () => {
  // In two organizations.
  [one, other] = [await TestEnvironment.create(db.sql, MODEL), await TestEnvironment.create(db.sql, MODEL)];
});

const MODEL = snapshot({ strictSchema: false });
const BATCH = 1024n;
const EVALUATION = 65_536n;

const login = (customer: string) => [{ customer, at: "2026-03-01T00:00:00Z", event: "login" }];

/** The last number of an environment's events, and of its evaluations. */
async function last({ environmentId }: TestEnvironment): Promise<{ event: bigint; emission: bigint }> {
  const [row] = await db.sql<[{ event: string; emission: string }]>`
    select
      (select max(event_seq) from svc.events where environment_id = ${environmentId}) as event,
      (select max(evaluation_seq) * 65536 from svc.emission_batches where environment_id = ${environmentId}) as emission`;
  return { event: BigInt(row.event), emission: BigInt(row.emission) };
}

it("the ids of events and emissions do not depend on operations and evaluations of others", async () => {
  await one.send(login("first"));
  await one.evaluate();
  const before = await last(one);
  for (let n = 0; n < 5; n++) {
    for (let m = 0; m < 10; m++) await other.send(login(`b${n}${m}`));
    await other.evaluate();
  }
  await one.send(login("second"));
  await one.evaluate();
  expect(await last(one)).toEqual({ event: before.event + BATCH, emission: before.emission + EVALUATION });
});

it("the position of event followers does not depend on operations of others, nor on their calls in progress", async () => {
  const through = async () => {
    const [row] = await db.sql<[{ through: string }]>`
      select svc.accepted_through(${one.environmentId}) as through`;
    return BigInt(row.through);
  };
  const before = await through();
  await other.send(login("d"));
  expect(await through()).toBe(before);
  await db.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock_shared(-${other.environmentId}::integer, 0)`;
    await one.send(login("a"));
    expect(await through()).toBe(before + BATCH);
  });
});

it("environments do not assign the same ids: a receiver of webhooks of both would drop known ones", async () => {
  const rows = await db.sql<{ first: string }[]>`
    select seqstart as first from pg_sequence where seqrelid in (
      select svc.evaluation_seq(environment_id) from svc.environments union select svc.batch_seq(environment_id) from svc.environments
    )`;
  expect(rows).toHaveLength(8);
  expect(new Set(rows.map(({ first }) => first)).size).toBe(8);
  // An id has 53 bits, like doubles, and no sequence may reach its end.
  for (const { first } of rows) expect(BigInt(first)).toBeLessThan(2n ** 42n);
});

it("the engine writes ids like the database", async () => {
  const edges = [0, 1, 2 ** 24 - 1, 2 ** 24, 2 ** 24 + 1, 2 ** 32, 2 ** 48 - 1, 2 ** 48, Number.MAX_SAFE_INTEGER];
  const numbers = [...edges, ...fc.sample(fc.maxSafeNat(), 200), ...edges];
  const rows = await db.sql<{ event: string; emission: string }[]>`
    select svc.event_id(n) as event, svc.emission_id(n) as emission
    from unnest(${numbers.map(String)}::bigint[]) with ordinality as u (n, position) order by position`;
  expect([...rows]).toEqual(numbers.map((number) => ({ event: eventIdOf(number), emission: emissionIdOf(number) })));
});
