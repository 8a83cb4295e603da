import { expect, it } from "vitest";
import { rolledBack, useDatabase } from "../../support/database.js";
import { isCluster } from "../../support/is-cluster.js";
import { MODEL } from "../../tasks/support/population.js";
import { TestEnvironment } from "../../tasks/support/environment.js";

const db = await useDatabase();

it.skipIf(isCluster)(
  "a customer erased meanwhile, with an operation accepted at that moment, does not begin with the erased data",
  async () => {
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
      const inserted = await tx`select svc.insert_customers(${environmentId}, '{back}', 1) as customer`;
      // The next chunk inserts it, with its new beginning.
      expect(inserted).toEqual([]);
      expect(await tx`select from svc.customers where customer_id = 'back'`).toHaveLength(0);
    });
  },
);
