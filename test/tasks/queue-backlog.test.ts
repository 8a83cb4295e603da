import type { ISql } from "postgres";
import { expect, it as test } from "vitest";
import { rolledBack, useDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { pagesOf } from "../support/pages.js";
import { TestEnvironment } from "./support/environment.js";

// Plans and collations of a single server.
const it = test.skipIf(isCluster);

const ORGANIZATIONS = 2_000;
const FEW = 50;

const db = await useDatabase();

/** Fills the queue with the jobs of many organizations, two environments each. */
async function fillQueue(sql: ISql): Promise<void> {
  await sql`
    insert into iam.organizations (organization_id, slug)
    select svc.random_id('org_'), 'waiting-' || n from generate_series(1, ${ORGANIZATIONS}::integer) as n`;
  await sql`
    insert into svc.projects (organization_id, name, slug)
    select organization_id, 'App', 'app' from iam.organizations where slug like 'waiting-%'`;
  await sql`
    select svc.request_evaluation(array_agg(environment_id)) from (
      select unnest(array[e.test_id, e.live_id]) as environment_id
      from svc.projects as p
      join iam.organizations as o using (organization_id)
      cross join lateral svc.add_environments(p.project_id) as e
      where o.slug like 'waiting-%'
    ) as added`;
}

it("a job is requested at the price of a few pages, however many others have come to wait since the plans were made", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql);
  await rolledBack(db.sql, async (tx) => {
    const pages = async () => {
      const requested = await pagesOf(tx, tx`select svc.request_evaluation(array[${environmentId}::integer])`);
      const continued = await pagesOf(tx, tx`select svc_api.continue_evaluation(${environmentId}, 2)`);
      await tx`delete from graphile_worker._private_jobs where (payload ->> 'environmentId')::integer = ${environmentId}`;
      return [requested, continued];
    };
    // From the sixth call on with plans that the connection keeps.
    for (let i = 0; i < 6; i++) await pages();
    const few = await pages();
    await fillQueue(tx);
    const many = await pages();
    for (const [index, read] of many.entries()) expect(read).toBeLessThan(few[index]! + FEW);
  });
});

it("calls that request an evaluation of the same environment do not wait for each other", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql);
  const request = (sql: ISql) => sql`select svc.request_evaluation(array[${environmentId}::integer])`;
  await request(db.sql); // the first one adds the name of the task
  await db.sql`delete from graphile_worker._private_jobs`;
  await db.sql.begin(async (first) => {
    await request(first);
    await db.sql.begin(async (second) => {
      await second`set local lock_timeout = 1`;
      await request(second);
    });
  });
  expect(await db.sql`select from graphile_worker._private_jobs`).toHaveLength(2);
});

it.each(["C", "en-x-icu", "numbers", "shifted"])(
  "the keys of an environment's jobs are next to each other in collation %s",
  async (collation) => {
    const [{ misplaced, keys }] = await rolledBack(db.sql, async (tx) => {
      await tx`create collation numbers (provider = icu, locale = 'en-u-kn-true')`;
      await tx`create collation shifted (provider = icu, locale = 'en-u-ka-shifted')`;
      return tx<[{ misplaced: number; keys: number }]>`
      with owners as (
        select svc.random_id('org_') as organization_id, (10 ^ (random() * 9))::integer as first_id from generate_series(1, 20)
      ), environments as (
        select organization_id, first_id + n as environment_id from owners, generate_series(0, 3) as n
      ), keys as (
        select e.*, svc.evaluation_key(organization_id, environment_id, (10 ^ (random() * 15) - 1)::bigint) collate ${tx(collation)} as key
        from environments as e, generate_series(1, 3)
      )
      select
        count(*)::integer as keys,
        count(*) filter (where (e.environment_id = k.environment_id and e.organization_id = k.organization_id)
          <> (k.key between svc.evaluation_key(e.organization_id, e.environment_id, 0)
            and svc.evaluation_key(e.organization_id, e.environment_id, 999999999999999))
          or (e.organization_id = k.organization_id)
          <> (k.key between svc.evaluation_key(e.organization_id, 0, 0)
            and svc.evaluation_key(e.organization_id, 2147483647, 999999999999999)))::integer as misplaced
      from environments as e, keys as k`;
    });
    expect({ misplaced, keys }).toEqual({ misplaced: 0, keys: 80 * 240 });
  },
);
