import type { TestEnvironment } from "./environment.js";

const PRESENT = `t.generation = (
  select c.generation from svc.customers as c where c.environment_id = t.environment_id and c.customer_id = t.customer_id
)`;

/**
 * Everything stored of an environment's customers: rows as JSON text by table, of logs only those of the current generation, without its
 * number.
 */
export async function everything({ sql, environmentId }: TestEnvironment) {
  const rows = async (table: string, columns: string, order: string, where = "true"): Promise<string[]> => {
    const result = await sql.unsafe<{ row: string }[]>(
      `select json_build_array(${columns})::text as row from svc.${table} as t
       where t.environment_id = ${environmentId} and ${where} order by ${order}`,
    );
    return result.map(({ row }) => row);
  };
  return {
    customers: await rows(
      "customers",
      `customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through, next_due_at, held_until,
       config_version, health, state`,
      "customer_id",
    ),
    events: await rows("events", "t.*", "event_seq"),
    updates: await rows("trait_updates", "t.*", "operation_seq"),
    emissions: await rows("emissions", "t.*", "emission_seq"),
    journeys: await rows("journey_runs", "t.*", "customer_id, journey_id, run"),
    segments: await rows("segment_memberships", "t.*", "customer_id, segment_id"),
    signals: await rows("signals", "t.*", "customer_id, signal_id"),
    blocked: await rows("blocked_transitions", "t.*", "customer_id, from_state, to_state"),
    transitions: await rows(
      "lifecycle_transitions",
      "customer_id, from_state, to_state, transitioned_at, cause_type, cause_id, config_version",
      "customer_id, transition_seq",
      PRESENT,
    ),
    scores: await rows(
      "health_scores",
      "customer_id, overall, components, band, scored_at, cause_type, cause_id, config_version",
      "customer_id, score_seq",
      PRESENT,
    ),
    executions: await rows(
      "rule_executions",
      "customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, cause_id, config_version",
      "customer_id, executed_at, execution_seq",
      PRESENT,
    ),
  };
}

/** The derived data of an environment's customers, without what differs between two environments with equal input: numbers and ids of events. */
export async function derived(environment: TestEnvironment): Promise<Record<string, string[]>> {
  const { sql, environmentId } = environment;
  const { events: _e, updates: _u, customers: _c, emissions: _m, ...tables } = await everything(environment);
  const customers = await sql<{ customer: string; held: string | null; last: string | null }[]>`
    select customer_id as customer, held_until::text as held, last_event_at::text as last
    from svc.customers where environment_id = ${environmentId} order by customer_id`;
  const documents = await sql<{ row: string }[]>`
    select json_build_array(svc.state_document(${environmentId}, c.customer), c.held, c.last)::text as row
    from json_to_recordset(${sql.json(customers)}::json) as c (customer text, held text, last text)
    order by c.customer collate "C"`;
  const emissions = await sql<{ row: string }[]>`
    select json_build_array(
      m.customer_id, m.event_type, m.source, m.metadata, m.emitted_at, m.cause_type, m.config_version
    )::text as row
    from svc.emissions as m where m.environment_id = ${environmentId} order by m.customer_id, m.emission_seq`;
  const own = `"environment_id":${environmentId},`;
  const anonymous = (row: string) => row.replaceAll(own, "").replaceAll(/evt_[0-9a-f]{16}/g, "evt");
  const all = { ...tables, documents: documents.map(({ row }) => row), emissions: emissions.map(({ row }) => row) };
  return Object.fromEntries(Object.entries(all).map(([name, rows]) => [name, rows.map(anonymous)]));
}
