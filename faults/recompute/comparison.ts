/** What two environments hold of the same customers. */
import type { Sql } from "postgres";

export interface Comparison {
  /** Customers who are the same in both. */
  equal: number;
  /** Customers who differ, or whom one of the two has not. */
  different: number;
  /** Of a few of those, what stands in either. */
  examples: { customer: string; one: string | null; other: string | null }[];
}

/**
 * Compares state documents, but for when the customers were created and the number of the version, with the transitions that count. Events
 * are named by their idempotency keys, which two projects have in common.
 */
export async function compare(sql: Sql, one: number, other: number): Promise<Comparison> {
  const of = (environmentId: number) => sql`
    select
      c.customer_id as customer,
      (
        (svc.state_document(c.environment_id, c.customer_id)::jsonb - 'createdAt' - 'configVersion') || jsonb_build_object(
          'transitions', (
            select jsonb_agg(jsonb_build_array(t.from_state, t.to_state, t.transitioned_at, t.cause_type, t.cause_id) order by t.transition_seq)
            from svc.lifecycle_transitions as t
            where t.environment_id = c.environment_id and t.customer_id = c.customer_id and t.generation = c.generation
          )
        )
      )::text as text,
      (
        select array_agg(array[svc.event_id(e.event_seq), e.idempotency_key])
        from svc.events as e where e.environment_id = c.environment_id and e.customer_id = c.customer_id
      ) as keys
    from svc.customers as c where c.environment_id = ${environmentId}`;
  const rows = await sql<{ customer: string; one: Side; other: Side }[]>`
    select coalesce(a.customer, b.customer) as customer, to_json(a) as one, to_json(b) as other
    from (${of(one)}) as a full join (${of(other)}) as b on b.customer = a.customer
    order by 1`;
  const compared = rows.map(({ customer, one, other }) => ({ customer, one: named(one), other: named(other) }));
  const different = compared.filter((row) => row.one !== row.other);
  return { equal: compared.length - different.length, different: different.length, examples: different.slice(0, 3) };
}

type Side = { text: string; keys: [id: string, key: string | null][] | null } | null;

function named(side: Side): string | null {
  if (side === null) return null;
  const keys = new Map(side.keys);
  return side.text.replaceAll(/evt_[0-9a-f]{16}/g, (id) => keys.get(id) ?? id);
}

/** The emissions of a job: how many there are, how many stand twice, and how many are told of by no row of the outbox or by two. */
export async function emissionsOf(
  sql: Sql,
  jobId: string,
): Promise<{ emissions: number; doubled: number; untold: number }> {
  const [row] = await sql<[{ emissions: number; doubled: number; untold: number }]>`
    with m as (select * from svc.emissions where cause_type = 'job' and cause_id = ${jobId})
    select
      count(*)::integer as emissions,
      (
        count(*) - count(distinct (m.customer_id, m.event_type, m.metadata::text, m.emitted_at))
      )::integer as doubled,
      count(*) filter (
        where (
          select count(*) from svc.emission_batches as b
          where b.environment_id = m.environment_id and b.evaluation_seq = m.emission_seq >> 16 and m.emission_seq & 65535 < b.emissions
        ) <> 1
      )::integer as untold
    from m`;
  return row;
}
