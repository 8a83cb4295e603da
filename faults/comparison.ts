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

/** Of a state document: what two projects never have in common, and what moves with the clock. */
const LEFT_OUT = {
  always: ["createdAt", "configVersion"],
  since: ["createdAt", "configVersion", "evaluatedThrough", "nextDueAt"],
};

export interface CompareOptions {
  /** Only these; all without. */
  customers?: readonly string[];
  /**
   * Both got the same operations in the same order, but since this instant and not at the same times. What was emitted and which
   * rules were executed is compared, too; instants since then are not.
   */
  since?: Date;
}

/**
 * Compares state documents, but for when the customers were created and the number of the version, with the transitions that count. Events
 * are named by their idempotency keys, which two projects have in common.
 */
export async function compare(
  sql: Sql,
  one: number,
  other: number,
  { customers, since }: CompareOptions = {},
): Promise<Comparison> {
  const chosen = customers === undefined ? sql`` : sql`and c.customer_id = any(${customers as string[]}::text[])`;
  const said =
    since !== undefined
      ? sql`|| jsonb_build_object(
          'emissions', (
            select jsonb_agg(jsonb_build_array(m.event_type, m.source, m.metadata, m.emitted_at, m.cause_id) order by m.emission_seq)
            from svc.emissions as m
            where m.environment_id = c.environment_id and m.customer_id = c.customer_id
          ),
          'executions', (
            select jsonb_agg(jsonb_build_array(r.rule_id, r.result, r.executed_at, r.cause_id) order by r.execution_seq)
            from svc.rule_executions as r
            where r.environment_id = c.environment_id and r.customer_id = c.customer_id
          )
        )`
      : sql``;
  const of = (environmentId: number) => sql`
    select
      c.customer_id as customer,
      (
        (svc.state_document(c.environment_id, c.customer_id)::jsonb - ${LEFT_OUT[since === undefined ? "always" : "since"]}::text[]) || jsonb_build_object(
          'transitions', (
            select jsonb_agg(jsonb_build_array(t.from_state, t.to_state, t.transitioned_at, t.cause_type, t.cause_id) order by t.transition_seq)
            from svc.lifecycle_transitions as t
            where t.environment_id = c.environment_id and t.customer_id = c.customer_id and t.generation = c.generation
          )
        )
        ${said}
      )::text as text,
      (
        select array_agg(array[svc.event_id(e.event_seq), e.idempotency_key])
        from svc.events as e where e.environment_id = c.environment_id and e.customer_id = c.customer_id
      ) as keys
    from svc.customers as c where c.environment_id = ${environmentId} ${chosen}`;
  const rows = await sql<{ customer: string; one: Side; other: Side }[]>`
    select coalesce(a.customer, b.customer) as customer, to_json(a) as one, to_json(b) as other
    from (${of(one)}) as a full join (${of(other)}) as b on b.customer = a.customer
    order by 1`;
  const compared = rows.map(({ customer, one, other }) => ({
    customer,
    one: named(one, since),
    other: named(other, since),
  }));
  const different = compared.filter((row) => row.one !== row.other);
  return { equal: compared.length - different.length, different: different.length, examples: different.slice(0, 3) };
}

type Side = { text: string; keys: [id: string, key: string | null][] | null } | null;

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g;

function named(side: Side, since: Date | undefined): string | null {
  if (side === null) return null;
  const keys = new Map(side.keys);
  const text = side.text.replaceAll(/evt_[0-9a-f]{16}/g, (id) => keys.get(id) ?? id);
  return since === undefined ? text : text.replaceAll(INSTANT, (at) => (new Date(at) < since ? at : "lately"));
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
