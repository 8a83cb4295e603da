/** Compares the customers of two environments. */
import type { Sql } from "postgres";

export interface Comparison {
  /** Customers who are the same in both. */
  equal: number;
  /** Customers who differ, or are missing in one environment. */
  different: number;
  /** For a few of those, their texts in both environments. */
  examples: { customer: string; one: string | null; other: string | null }[];
}

/** Members of a state document that are left out: those that always differ between projects, and those that depend on the clock. */
const LEFT_OUT = {
  always: ["createdAt", "configVersion"],
  since: ["createdAt", "configVersion", "evaluatedThrough", "nextDueAt"],
};

export interface CompareOptions {
  /** Only these; default: all. */
  customers?: readonly string[];
  /**
   * Both environments received the same operations in the same order since this instant, but at different times. Then emissions and executions
   * of rules are compared too, but no instants since then.
   */
  since?: Date;
}

/**
 * Compares state documents, except the creation of the customers and the version, and the current transitions. Events are identified by
 * their idempotency keys, which are the same in both projects.
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
 * Describes customers as text. Each statement, and each function that it calls, reads tables of one environment only, because environments may be
 * on different nodes.
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
  const listed = await sql<
    { customer: string }[]
  >`select c.customer_id as customer from svc.customers as c where ${here("c")}`;
  const states = await sql<Row[]>`
    select
      c.customer,
      (svc.state_document(${environmentId}, c.customer)::jsonb - ${LEFT_OUT[since === undefined ? "always" : "since"]}::text[])::text as text
    from unnest(${listed.map(({ customer }) => customer)}::text[]) as c (customer)`;
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
    listed.map(({ customer }) => {
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

/** The emissions of a job: how many there are, how many are duplicates, and how many have not exactly one row in `svc.emission_batches`. */
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
