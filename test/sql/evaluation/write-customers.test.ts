import type { TransactionSql } from "postgres";
import { expect, it as test } from "vitest";
import { rolledBack, useDatabase } from "../../support/database.js";
import { isCluster } from "../../support/is-cluster.js";
import { pagesOf } from "../../support/pages.js";
import { MODEL } from "../../tasks/support/population.js";
import { TestEnvironment } from "../../tasks/support/environment.js";

const db = await useDatabase();

// Plans and triggers of a single server.
const it = test.skipIf(isCluster);

const FEW = 1_000;
const MANY = 20_000;
const EACH = 100;

it("reads as many pages with many customers and trait updates as with the few that it was planned for", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql, MODEL);
  const write = (tx: TransactionSql, from: number) => tx`
    select svc.write_customers(${environmentId}, 1, json_agg(r), string_agg('{}', chr(10)))
    from (
      select 'c' || n as "customerId", 0 as "createdAt", array[n] as identifies
      from generate_series(${from}::integer, ${from + EACH - 1}) as n
    ) as r`;
  await rolledBack(db.sql, async (tx) => {
    const fill = async (from: number, count: number) => {
      const all = tx`generate_series(${from}::integer, ${from + count - 1}) as n`;
      await tx`
        insert into svc.customers (environment_id, customer_id, created_at)
        select ${environmentId}, 'c' || n, now() from ${all}`;
      await tx`
        insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at)
        select ${environmentId}, n, 'c' || n, jsonb_build_object('n', n), now() from ${all}`;
    };
    await fill(0, FEW);
    await pagesOf(tx, write(tx, 0)); // also reads the catalog
    const few = await pagesOf(tx, write(tx, EACH));
    await fill(FEW, MANY);
    // Twice: a session that missed invalidations, because other databases of the server had many, reads the catalog anew.
    const many = Math.min(await pagesOf(tx, write(tx, 2 * EACH)), await pagesOf(tx, write(tx, 3 * EACH)));
    expect(many).toBeLessThan(1.5 * few);
    expect(await tx`select traits from svc.customers where customer_id = 'c299'`).toEqual([{ traits: { n: 299 } }]);
  });
});

it("a customer is due by what it was evaluated, or by an event in the future, and never at infinity", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql, MODEL);
  const dueAt = async (nextDueAt: string | null, ...notBefore: string[]) => {
    const [row] = await rolledBack(db.sql, async (tx) => {
      await tx`insert into svc.customers (environment_id, customer_id, created_at) values (${environmentId}, 'c', now())`;
      await tx`
        insert into svc.inbox (environment_id, customer_id, seq, not_before)
        select ${environmentId}, 'c', o.n, o.at from unnest(${notBefore}::timestamptz[]) with ordinality as o (at, n)`;
      const due = nextDueAt === null ? null : Date.parse(nextDueAt);
      await tx`
        select svc.write_customers(
          ${environmentId}, 1, json_build_array(json_build_object('customerId', 'c', 'createdAt', 0, 'nextDueAt', ${due}::bigint)), '{}'
        )`;
      return tx<
        [{ due: string | null }]
      >`select coalesce(svc.iso(next_due_at), next_due_at::text) as due from svc.customers where customer_id = 'c'`;
    });
    return row.due;
  };
  const [sooner, later] = ["2026-02-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"];
  expect(await dueAt(later, sooner, "infinity")).toBe(sooner);
  expect(await dueAt(sooner, later)).toBe(sooner);
  // Set aside, so that its operations wait for its release.
  expect(await dueAt(later, "infinity")).toBe(later);
  expect(await dueAt(null, "infinity")).toBeNull();
});

it("a customer that is inserted while it is erased, with an operation accepted at that moment, does not begin with the erased data", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql, MODEL);
  await rolledBack(db.sql, async (tx) => {
    // Commits of others between two statements of the function: an erasure after its insert, an acceptance after its update.
    await tx`
      insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
      select ${environmentId}, b.seq, gen_random_uuid(), b.at::timestamptz, 1, 0, false
      from (values (1, '2026-01-01'), (2, '2026-02-01')) as b (seq, at)`;
    await tx`insert into svc.inbox (environment_id, customer_id, seq) values (${environmentId}, 'back', 1024)`;
    await tx.unsafe(`
      create function pg_temp.erase() returns trigger language plpgsql as $$
        begin delete from svc.inbox where customer_id = 'back'; return null; end $$;
      create function pg_temp.accept() returns trigger language plpgsql as $$
        begin insert into svc.inbox (environment_id, customer_id, seq) values (${environmentId}, 'back', 2048); return null; end $$;
      create trigger erase after insert on svc.customers for each statement execute function pg_temp.erase();
      create trigger accept after update on svc.customers for each statement execute function pg_temp.accept();`);
    const inserted = await tx`select svc.insert_new_customers(${environmentId}, '{back}') as customer`;
    // The next chunk inserts it, with its new beginning.
    expect(inserted).toEqual([]);
    expect(await tx`select from svc.customers where customer_id = 'back'`).toHaveLength(0);
  });
});
