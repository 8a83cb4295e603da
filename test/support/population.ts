import type { Sql } from "postgres";

/** The size of a population. The number of other rows follows from these. */
export interface PopulationSize {
  customers: number;
  events: number;
}

/**
 * Fills an environment as months of ingestion and evaluation would, with set-based statements: customers from `customer-000000` on, the first
 * of which has a twentieth of the events; frequent and rare event names, states, segments, rules and results; one customer in ten with a
 * recomputed history; a few hundred waiting events. Ends with `vacuum (analyze)`.
 */
export async function populate(sql: Sql, environmentId: number, { customers, events }: PopulationSize): Promise<void> {
  const id = environmentId;
  await sql`
    insert into svc.customers (
      environment_id, customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through, config_version,
      health, state, generation, set_aside_at, set_aside_error
    )
    select
      ${id}, ${customerId(sql`n`)}, now() - interval '400 days' + n * interval '1 minute', jsonb_build_object('plan', 'pro', 'seats', n % 90),
      case when n % 1000 = 0 then 'trial' when n % 10 < 6 then 'active' when n % 10 < 9 then 'quiet' else 'new' end,
      now() - (n % 300) * interval '1 day',
      case when n % 50 > 0 then now() - ((n * 7919::bigint) % 31536000) * interval '1 second' end,
      now(), 1,
      case when n % 5 > 0 then json_build_object(
        'overall', (n * 31 % 10000) / 100.0, 'components', json_build_object('usage', n % 100, 'billing', n % 70),
        'band', case when n * 31 % 10000 < 4000 then 'at_risk' else 'healthy' end
      ) end,
      json_build_object('counts', array(select (n * k) % 1000 from generate_series(1, 100) as k)),
      ${generation(sql`n`)},
      case when n % 4001 = 4000 then now() end,
      case when n % 4001 = 4000 then 'RangeError: beyond' end
    from generate_series(0, ${customers - 1}) as n`;
  await sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
    select
      ${id}, (n / 1000 + 1) * 1024 + n % 1000, ${customerId(sql`case when n % 20 = 0 then 0 else (n * 7919) % ${customers}::integer end`)},
      case when n % 5000 = 4999 then 'account_closed' when n % 50 = 49 then 'invoice_paid' when n % 10 < 3 then 'login' else 'feature_used' end,
      jsonb_build_object('feature', 'reports', 'seconds', n % 600),
      now() - ((${events} - n) * 31536000.0 / ${events} + n % 977) * interval '1 second',
      now() - ((${events} - n) * 31536000.0 / ${events}) * interval '1 second'
    from generate_series(0::bigint, ${events - 1}::bigint) as n`;
  await sql`
    insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
    select ${id}, b + 1, gen_random_uuid(), now() - ((${events} - b * 1000) * 31536000.0 / ${events}) * interval '1 second', 1000, 0, false
    from generate_series(0, ${Math.ceil(events / 1000) - 1}) as b`;
  await sql`select setval(svc.batch_seq(${id}), ${Math.ceil(events / 1000) + 1})`;
  await sql`
    insert into svc.inbox (environment_id, customer_id, seq)
    select environment_id, customer_id, event_seq from svc.events where environment_id = ${id} order by event_seq desc limit 500`;
  await sql`
    insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
    select
      ${id}, s.segment, ${customerId(sql`n`)}, now() - (n % 200) * interval '1 day',
      case when n % 3 = 2 and s.segment <> 'everyone' then now() end
    from generate_series(0, ${customers - 1}) as n
    cross join (values ('everyone', 1), ('paying', 2), ('chosen', 400), ('few', 20000)) as s (segment, share)
    where n % s.share = 0`;
  await sql`
    insert into svc.lifecycle_transitions (
      environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, config_version, generation
    )
    select
      ${id}, ${customerId(sql`n`)}, (array[null, 'new', 'active'])[k], (array['new', 'active', 'quiet'])[k],
      now() - (n % 300 + 10 - k) * interval '1 day', 'event', 1, g
    from generate_series(0, ${customers - 1}) as n, generate_series(0, ${generation(sql`n`)}) as g, generate_series(1, 3) as k`;
  await sql`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, cause_id,
      config_version, generation
    )
    select
      ${id}, ${customerId(sql`e.customer`)},
      case when e.n % 2500 = 2499 then 'seldom' else 'rule_' || e.n % 12 end, e.result, 'event:login',
      '{"kind": "all", "holds": true, "parts": [{"kind": "count", "holds": true, "value": 3}]}', '{"type": "emit", "event": "nudge"}',
      case when e.result = 'error' then 'unknown segment' end,
      now() - ((${customers * 4} - e.n) * 31536000.0 / ${customers * 4}) * interval '1 second', 'event', 'evt_0000000000000400', 1, g
    from (
      select
        n, (n / 4 * 7919::bigint) % ${customers}::integer as customer,
        case when n % 1000 = 0 then 'error' when n % 20 = 1 then 'skip' when n % 10 < 4 then 'pass' else 'fail' end as result
      from generate_series(0, ${customers * 4 - 1}) as n
    ) as e
    cross join generate_series(0, ${generation(sql`e.customer`)}) as g`;
  await sql`
    insert into svc.journey_runs (
      environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at, expired_at
    )
    select
      ${id}, ${customerId(sql`n`)}, 'onboarding', k, case k when 1 then 'expired' else 'active' end, 'invite',
      json_build_object('look', json_build_object('completedAt', svc.iso(now() - interval '20 days'), 'triggeredBy', 'timer')),
      now() - interval '30 days', null, case k when 1 then now() - interval '25 days' end
    from generate_series(0, ${customers - 1}) as n, generate_series(1, 2) as k`;
  await sql`
    insert into svc.signals (environment_id, customer_id, signal_id, severity, raised_at)
    select ${id}, ${customerId(sql`n`)}, 'quiet', 'warning', now() from generate_series(0, ${customers - 1}) as n where n % 3 = 0`;
  await sql`
    insert into svc.health_scores (environment_id, customer_id, overall, components, band, scored_at, cause_type, config_version, generation)
    select ${id}, ${customerId(sql`n`)}, 50, '{"usage": 50}', 'healthy', now(), 'timer', 1, g
    from generate_series(0, ${customers - 1}) as n, generate_series(0, ${generation(sql`n`)}) as g`;
  await sql`
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, config_version
    )
    select
      ${id}, 65536 + n, ${customerId(sql`(n * 7919::bigint) % ${customers}::integer`)}, 'segment.entered', 'segment',
      '{"segment": "paying"}', now() - (n % 300) * interval '1 day', 'event', 1
    from generate_series(0, ${customers * 3 - 1}) as n`;
  await sql`vacuum (analyze)`;

  function customerId(n: ReturnType<Sql>) {
    return sql`'customer-' || lpad((${n})::text, 6, '0')`;
  }

  /** One customer in ten was recomputed. */
  function generation(n: ReturnType<Sql>) {
    return sql`(case when ${n} % 10 = 0 then 1 else 0 end)`;
  }
}
