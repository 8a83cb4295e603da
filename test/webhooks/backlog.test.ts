import type { Sql, TransactionSql } from "postgres";
import { expect, it as test } from "vitest";
import { rolledBack } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { pagesOf } from "../support/pages.js";
import { newEndpoint, useWebhooks } from "./support/fixtures.js";

// Plans of a single server: a cluster's nodes make their own.
const it = test.skipIf(isCluster);

const FEW = 1_000;
const BACKLOG = 50_000;
const EACH = 100;
const FIRST = 5_000_000_000;

const CLAIM = `select * from svc_api.claim_deliveries('worker', '{}', '{}', '{}', '{}', ${EACH}, ${EACH}, 10)`;

const sql = await useWebhooks();

type Endpoint = Awaited<ReturnType<typeof newEndpoint>>;

/** Adds `count` due deliveries, with emission numbers starting at `from`, due in that order. */
function wait(on: Sql | TransactionSql, { environment, webhookId }: Endpoint, from: number, count: number) {
  return on`
    with emitted as (
      insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, config_version
      )
      select ${environment}, n, 'c', 'a.b', 'rule', '{}', now(), 'event', 1
      from generate_series(${from}::bigint, ${from + count - 1}) as n
      returning environment_id, emission_seq
    )
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, next_attempt_at)
    select environment_id, ${webhookId}, emission_seq, now() - interval '1 minute' + (emission_seq - ${FIRST}) * interval '1 microsecond'
    from emitted`;
}

it("a claim scans only once what was delivered since the last vacuum", async () => {
  const endpoint = await newEndpoint(sql);
  const { environment, webhookId } = endpoint;
  await wait(sql, endpoint, FIRST, BACKLOG + 1);
  await sql`
    update svc.deliveries set status = 'delivered', attempts = 1, finished_at = now()
    where environment_id = ${environment} and emission_seq < ${FIRST + BACKLOG}`;
  const once = sql`
    select next_attempt_at from svc.deliveries
    where environment_id = ${environment} and webhook_id = ${webhookId} and status = 'pending' order by next_attempt_at limit 1`;
  // Twice: the first call marks the index entries of dead rows.
  expect(await sql.unsafe(CLAIM)).toHaveLength(1);
  await sql.unsafe(CLAIM);
  expect(await pagesOf(sql, sql.unsafe(CLAIM))).toBeLessThan(1.5 * (await pagesOf(sql, once)));
  await sql`vacuum svc.deliveries`;
});

it("claiming and recording with many pending deliveries read as many pages as with the few that existed at planning", async () => {
  const endpoint = await newEndpoint(sql);
  const { environment, webhookId } = endpoint;
  const record = (from: number) => `
    select svc_api.record_attempts((
      select jsonb_agg(jsonb_build_object(
        'environmentId', ${environment}, 'webhookId', '${webhookId}', 'emissionSeq', n, 'attempt', 1, 'attemptedAt', now(),
        'latencyMs', 5, 'statusCode', 204
      ))
      from generate_series(${from}::bigint, ${from + EACH - 1}) as n
    ))`;
  await rolledBack(sql, async (tx) => {
    await wait(tx, endpoint, FIRST, FEW);
    // Twice: the first call reads the catalog, too.
    await pagesOf(tx, tx.unsafe(CLAIM));
    await pagesOf(tx, tx.unsafe(record(FIRST)));
    const few = [await pagesOf(tx, tx.unsafe(CLAIM)), await pagesOf(tx, tx.unsafe(record(FIRST + EACH)))];
    await wait(tx, endpoint, FIRST + FEW, BACKLOG);
    const many = [await pagesOf(tx, tx.unsafe(CLAIM)), await pagesOf(tx, tx.unsafe(record(FIRST + 2 * EACH)))];
    for (const [index, before] of few.entries()) expect(many[index]).toBeLessThan(1.3 * before);
    const [{ delivered }] = await tx<[{ delivered: number }]>`
      select count(*)::integer as delivered from svc.deliveries where status = 'delivered'`;
    expect(delivered).toBe(3 * EACH);
  });
});
