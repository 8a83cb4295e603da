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
  const [ones, others] = [await described(sql, one, customers, since), await described(sql, other, customers, since)];
  const all = [...new Set([...ones.keys(), ...others.keys()])].sort();
  const compared = all.map((customer) => ({
    customer,
    one: ones.get(customer) ?? null,
    other: others.get(customer) ?? null,
  }));
  const different = compared.filter((row) => row.one !== row.other);
  return { equal: compared.length - different.length, different: different.length, examples: different.slice(0, 3) };
}

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g;

/**
 * What there is of customers, as text. Each statement reads tables of one environment, or calls a function that does: where environments
 * lie on different nodes, none reads more.
 */
async function described(
  sql: Sql,
  environmentId: number,
  customers: readonly string[] | undefined,
  since: Date | undefined,
): Promise<Map<string, string>> {
  const here = (table: string) => sql`
    ${sql(table)}.environment_id = ${environmentId}
    ${customers === undefined ? sql`` : sql`and ${sql(table)}.customer_id = any(${customers as string[]}::text[])`}`;
  const found = await sql<
    { customer: string }[]
  >`select c.customer_id as customer from svc.customers as c where ${here("c")}`;
  const states = await sql<Row[]>`
    select
      c.customer,
      (svc.state_document(${environmentId}, c.customer)::jsonb - ${LEFT_OUT[since === undefined ? "always" : "since"]}::text[])::text as text
    from unnest(${found.map(({ customer }) => customer)}::text[]) as c (customer)`;
  const parts = [
    states,
    await sql<Row[]>`
      select
        t.customer_id as customer,
        jsonb_agg(jsonb_build_array(t.from_state, t.to_state, t.transitioned_at, t.cause_type, t.cause_id) order by t.transition_seq)::text as text
      from svc.lifecycle_transitions as t
      join svc.customers as c on c.environment_id = t.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
      where ${here("t")}
      group by t.customer_id`,
  ];
  if (since !== undefined)
    parts.push(
      await sql<Row[]>`
        select
          m.customer_id as customer,
          jsonb_agg(jsonb_build_array(m.event_type, m.source, m.metadata, m.emitted_at, m.cause_id) order by m.emission_seq)::text as text
        from svc.emissions as m
        where ${here("m")}
        group by m.customer_id`,
      await sql<Row[]>`
        select
          r.customer_id as customer,
          jsonb_agg(jsonb_build_array(r.rule_id, r.result, r.executed_at, r.cause_id) order by r.execution_seq)::text as text
        from svc.rule_executions as r
        where ${here("r")}
        group by r.customer_id`,
    );
  const named = await sql<{ id: string; key: string | null }[]>`
    select svc.event_id(e.event_seq) as id, e.idempotency_key as key from svc.events as e where ${here("e")}`;
  const keys = new Map(named.map(({ id, key }) => [id, key]));
  const texts = parts.map((rows) => new Map(rows.map(({ customer, text }) => [customer, text])));
  return new Map(
    found.map(({ customer }) => {
      const text = texts
        .map((part) => part.get(customer) ?? "null")
        .join(" ")
        .replaceAll(/evt_[0-9a-f]{16}/g, (id) => keys.get(id) ?? id);
      return [
        customer,
        since === undefined ? text : text.replaceAll(INSTANT, (at) => (new Date(at) < since ? at : "lately")),
      ];
    }),
  );
}

interface Row {
  customer: string;
  text: string;
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
