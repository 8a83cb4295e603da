/** Verifies that the database contains what was acknowledged: figures that must be equal, and queries that must return no row. */
import type { Sql, TransactionSql } from "postgres";
import type { Ledger } from "./ledger.js";
import { ACTIVE_FROM, RULE, RULED } from "./model.js";
import type { History } from "./operations.js";
import type { Survey } from "./survey.js";

/** A number as it was sent and as it is stored. */
export interface Figure {
  what: string;
  sent: string;
  stored: string;
}

/** A claim about the database, and the first rows that contradict it. */
export interface Claim {
  claim: string;
  counterexamples: string[];
}

export interface Verification {
  figures: Figure[];
  claims: Claim[];
}

/** Everything that does not hold, as lines. */
export function differences({ figures, claims }: Verification): string[] {
  return [
    ...figures
      .filter(({ sent, stored }) => sent !== stored)
      .map((f) => `${f.what}: ${f.sent} sent, ${f.stored} stored`),
    ...claims
      .filter((c) => c.counterexamples.length > 0)
      .map((c) => `not so: ${c.claim}: ${c.counterexamples.join(" ")}`),
  ];
}

export interface Sent {
  history: History;
  survey: Survey;
  ledger: Ledger;
}

/**
 * Loads what was sent and acknowledged into a separate schema, and compares. The signal is checked only between statements, because each is
 * short, and the driver does not handle the end of a connection well during one.
 */
export async function verify(
  sql: TransactionSql,
  environmentId: number,
  { history, survey, ledger }: Sent,
  signal?: AbortSignal,
): Promise<Verification> {
  await loadSent(sql, history, ledger, signal);
  await copyStored(sql, environmentId, signal);
  await prepareForJoins(sql);
  const claims: Claim[] = [];
  for (const [claim, query] of claimsAbout(survey)) {
    signal?.throwIfAborted();
    const rows = await sql.unsafe(`with here as (select ${environmentId} as environment_id) ${query} limit 3`);
    claims.push({ claim, counterexamples: rows.map((row) => JSON.stringify(row)) });
  }
  claims.push(...(await invariants(sql)));
  return { figures: await figures(sql, environmentId, survey, ledger), claims };
}

/** The environment `test` of a project. */
export async function environmentOf(sql: Sql | TransactionSql, project: string): Promise<number> {
  const [environment] = await sql<[{ id: number }]>`
    select e.environment_id as id
    from svc.environments as e
    join svc.projects as p on p.project_id = e.project_id
    where p.slug = ${project} and e.name = 'test'`;
  return environment.id;
}

const LOADED_AT_ONCE = 2_000;

async function loadSent(sql: TransactionSql, history: History, ledger: Ledger, signal?: AbortSignal): Promise<void> {
  await sql`drop schema if exists faults cascade`;
  await sql`create schema faults`;
  await sql`
    create unlogged table faults.sent (
      n bigint, key text collate "C", event_id text collate "C", customer_id text collate "C", event text collate "C",
      properties jsonb, occurred_at timestamptz, traits jsonb
    )`;
  let n = 0;
  let rows: string[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    await sql`
      insert into faults.sent
      select
        s.n, s.operation ->> 'idempotencyKey', s.id, s.operation ->> 'customerId', s.operation ->> 'event',
        coalesce(s.operation -> 'properties', '{}'), (s.operation ->> 'timestamp')::timestamptz, s.operation -> 'traits'
      from jsonb_to_recordset(${`[${rows.join(",")}]`}::text::jsonb) as s (n bigint, id text, operation jsonb)`;
    rows = [];
  };
  for await (const { json, key } of history.read()) {
    // The operation's original text, so that numbers are compared as sent.
    const id = key === null ? null : (ledger.ids.get(key) ?? null);
    rows.push(`{"n":${n++},"id":${JSON.stringify(id)},"operation":${json}}`);
    if (rows.length === LOADED_AT_ONCE) await flush();
  }
  await flush();
  await sql`create index on faults.sent (key)`;
}

const STORED = [
  "events",
  "idempotency_keys",
  "trait_updates",
  "customers",
  "rule_executions",
  "emissions",
  "ingest_batches",
  "inbox",
] as const;

/** Copies what is stored of the environment next to what was sent: on a cluster it is on a node and cannot be joined here. */
async function copyStored(sql: TransactionSql, environmentId: number, signal?: AbortSignal): Promise<void> {
  for (const table of STORED) {
    signal?.throwIfAborted();
    await sql.unsafe(
      `create unlogged table faults.${table} as select * from svc.${table} where environment_id = ${environmentId}`,
    );
  }
}

/** Whole tables are compared. Without current statistics, the plan would be one for empty tables and compare each row with each other. */
async function prepareForJoins(sql: TransactionSql): Promise<void> {
  await sql`set local work_mem = '64MB'`;
  await sql`set local enable_nestloop = off`;
  await sql`
    analyze faults.sent, faults.events, faults.idempotency_keys, faults.trait_updates, faults.customers, faults.rule_executions, faults.emissions`;
}

/** Claims, each with a query for counterexamples; `here` has the environment's id. */
function claimsAbout({ model }: Survey): [claim: string, query: string][] {
  const [counted, ruled] = [literal(model.counted), literal(model.ruled)];
  return [
    [
      "every event was acknowledged with the id under which it is stored",
      `select s.key, s.event_id, svc.event_id(e.event_seq) as stored
       from here cross join faults.sent as s
       left join faults.idempotency_keys as k on k.environment_id = here.environment_id and k.idempotency_key = s.key
       left join faults.events as e on e.environment_id = here.environment_id and e.event_seq = k.event_seq
       where s.key is not null and svc.event_id(e.event_seq) is distinct from s.event_id`,
    ],
    [
      "every event is stored as it was sent",
      `select s.key, e.customer_id, e.event, e.properties, e.occurred_at
       from here cross join faults.sent as s
       join faults.idempotency_keys as k on k.environment_id = here.environment_id and k.idempotency_key = s.key
       join faults.events as e on e.environment_id = here.environment_id and e.event_seq = k.event_seq
       where (e.customer_id, e.event, e.properties, e.occurred_at)
         is distinct from (s.customer_id, s.event, s.properties, coalesce(s.occurred_at, e.accepted_at))`,
    ],
    [
      "nothing is stored that was not sent, and nothing twice",
      `select e.customer_id, e.event, svc.event_id(e.event_seq) as id
       from here join faults.events as e on e.environment_id = here.environment_id
       left join faults.idempotency_keys as k on k.environment_id = here.environment_id and k.event_seq = e.event_seq
       where not exists (select from faults.sent as s where s.key = k.idempotency_key)`,
    ],
    [
      "no two keys made one event, and no key none",
      `select k.event_seq, array_agg(k.idempotency_key) as keys
       from here join faults.idempotency_keys as k on k.environment_id = here.environment_id
       left join faults.events as e on e.environment_id = here.environment_id and e.event_seq = k.event_seq
       group by k.event_seq
       having count(*) > 1 or count(e.event_seq) = 0`,
    ],
    [
      "every trait update is stored at least once",
      `select s.customer_id, s.traits, s.updates, u.updates as stored
       from (
         select s.customer_id, s.traits, count(*) as updates from faults.sent as s where s.key is null group by 1, 2
       ) as s
       left join (
         select u.customer_id, u.traits, count(*) as updates
         from here join faults.trait_updates as u on u.environment_id = here.environment_id
         group by 1, 2
       ) as u on u.customer_id = s.customer_id and u.traits = s.traits
       where s.updates > coalesce(u.updates, 0)`,
    ],
    [
      "the customers' traits are those of their updates in order",
      `select c.customer_id, c.traits, sent.traits as expected
       from here join faults.customers as c on c.environment_id = here.environment_id
       left join (
         select l.customer_id, jsonb_object_agg(l.name, l.value) filter (where l.value <> 'null') as traits
         from (
           select distinct on (s.customer_id, t.name) s.customer_id, t.name, t.value
           from faults.sent as s cross join jsonb_each(s.traits) as t (name, value)
           order by s.customer_id, t.name, s.n desc
         ) as l
         group by l.customer_id
       ) as sent on sent.customer_id = c.customer_id
       where c.traits <> coalesce(sent.traits, '{}')`,
    ],
    [
      "there are the customers of whom something was sent, and none is set aside",
      `select coalesce(s.customer_id, c.customer_id) as customer_id, c.set_aside_error
       from (select distinct customer_id from faults.sent) as s
       full join (
         select c.* from here join faults.customers as c on c.environment_id = here.environment_id
       ) as c on c.customer_id = s.customer_id
       where s.customer_id is null or c.customer_id is null or c.set_aside_at is not null`,
    ],
    [
      `a customer is active from ${ACTIVE_FROM} events "${model.counted}" on`,
      `select c.customer_id, c.lifecycle, count(e.event_seq) as events
       from here join faults.customers as c on c.environment_id = here.environment_id
       left join faults.events as e
         on e.environment_id = c.environment_id and e.customer_id = c.customer_id and e.event = ${counted}
       group by c.environment_id, c.customer_id, c.lifecycle
       having c.lifecycle is distinct from case when count(e.event_seq) >= ${ACTIVE_FROM} then 'active' else 'new' end`,
    ],
    [
      `each event "${model.ruled}" was evaluated once, and emitted once`,
      `select t.id, count(t.event) as events, count(t.execution) as executions, count(t.emission) as emissions
       from (
         select svc.event_id(e.event_seq) as id, 1 as event, null::integer as execution, null::integer as emission
         from here join faults.events as e on e.environment_id = here.environment_id
         where e.event = ${ruled}
         union all
         select r.cause_id, null, 1, null
         from here join faults.rule_executions as r on r.environment_id = here.environment_id and r.rule_id = '${RULE}'
         union all
         select m.cause_id, null, null, 1
         from here join faults.emissions as m on m.environment_id = here.environment_id
         where m.event_type = '${RULED}'
       ) as t
       group by t.id
       having (count(t.event), count(t.execution), count(t.emission)) is distinct from (1, 1, 1)`,
    ],
    [
      "the month's usage is the number of events stored",
      `select u.month, u.month_events, sum(b.tracked) as stored
       from here
       join svc.api_keys as k on k.environment_id = here.environment_id
       join svc.key_usage as u on u.key_hash = k.key_hash
       left join faults.ingest_batches as b
         on b.environment_id = k.environment_id and date_trunc('month', b.accepted_at, 'UTC') = u.month::timestamp at time zone 'UTC'
       group by k.key_hash, u.month, u.month_events
       having u.month_events <> coalesce(sum(b.tracked), 0)`,
    ],
    [
      "nothing waits for evaluation",
      `select i.customer_id, i.seq, i.not_before from here join faults.inbox as i on i.environment_id = here.environment_id`,
    ],
  ];
}

/** The invariants, which must hold in all environments whatever was sent. */
async function invariants(sql: TransactionSql): Promise<Claim[]> {
  const known = await sql<{ claim: string; counterexamples: string[] }[]>`
    select k.holds as claim, coalesce(i.examples, '{}') as counterexamples
    from svc.known_invariants() as k
    left join svc_inspect.invariants() as i on i.invariant = k.invariant
    order by k.place`;
  return known.map(({ claim, counterexamples }) => ({ claim, counterexamples }));
}

async function figures(sql: TransactionSql, environmentId: number, survey: Survey, ledger: Ledger): Promise<Figure[]> {
  const here = sql`environment_id = ${environmentId}`;
  const [stored] = await sql<[Record<string, string>]>`
    select
      (select count(*) from svc.events where ${here}) as events,
      (select count(*) from svc.idempotency_keys where ${here}) as keys,
      (select count(distinct svc.event_id(event_seq)) from svc.events where ${here}) as ids,
      (select count(*) from (select distinct customer_id, traits from svc.trait_updates where ${here}) as t) as updates,
      (select count(*) from svc.customers where ${here}) as customers,
      (select coalesce(sum(tracked), 0) from svc.ingest_batches where ${here}) as tracked,
      (select count(*) from svc.rule_executions where ${here} and rule_id = ${RULE}) as executions,
      (select count(*) from svc.inbox where ${here}) as waiting`;
  const [sent] = await sql<[Record<string, string>]>`
    select count(*) as operations, count(distinct event_id) as ids,
      (select count(*) from (select distinct customer_id, traits from faults.sent where key is null) as t) as updates
    from faults.sent`;
  const rows: [what: string, sent: unknown, stored: unknown][] = [
    ["operations, and those acknowledged", sent.operations, ledger.operations],
    ["events", survey.events, stored.events],
    ["idempotency keys", survey.events, stored.keys],
    ["event ids, all different", sent.ids, stored.ids],
    ["events that count as usage", survey.events, stored.tracked],
    ["trait updates, all different", sent.updates, stored.updates],
    ["customers", survey.customers, stored.customers],
    [`executions of a rule on "${survey.model.ruled}"`, survey.model.ruledEvents, stored.executions],
    ["operations that wait for evaluation", 0, stored.waiting],
  ];
  for (const [property, sum] of survey.sums) {
    const [total] = await sql<[{ sum: string }]>`
      select trim_scale(coalesce(sum((properties ->> ${property})::numeric), 0))::text as sum
      from svc.events
      where ${here} and jsonb_typeof(properties -> ${property}) = 'number'`;
    rows.push([`sum of "${property}", in decimals`, sum, total.sum]);
  }
  return rows.map(([what, sent, stored]) => ({ what, sent: String(sent), stored: String(stored) }));
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
