create table svc.health_scores (
  environment_id integer not null,
  customer_id text not null collate "C",
  generation integer not null default 0,
  score_seq bigint generated always as identity,
  overall numeric(5, 2),
  -- json, not jsonb: components are shown in the author's order.
  components json not null,
  band text collate "C",
  scored_at timestamptz not null,
  cause_type text not null,
  cause_id text,
  config_version integer,
  primary key (environment_id, customer_id, generation, score_seq),
  constraint health_scores_cause_known check (cause_type in ('event', 'identify', 'timer', 'job')),
  constraint health_scores_overall_range check (overall between 0 and 100)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
comment on table svc.health_scores is
  'Every change of a customer''s health score. Insert-only; readers see the customer''s present generation.
The present score is in svc.customers.';
comment on column svc.health_scores.environment_id is 'The environment.';
comment on column svc.health_scores.customer_id is 'The customer.';
comment on column svc.health_scores.generation is 'That of the customer when it was written.';
comment on column svc.health_scores.score_seq is 'Order of writing.';
comment on column svc.health_scores.overall is
  'Weighted mean of the components, 0 to 100; null where none of them is known any more, so that there is no score.';
comment on column svc.health_scores.components is 'The score of each component that is known, 0 to 100.';
comment on column svc.health_scores.band is 'The band that the overall score lies in; null where there is none.';
comment on column svc.health_scores.scored_at is 'The instant of the change: of the operation or the due instant that caused it.';
comment on column svc.health_scores.cause_type is 'event, identify, timer or job.';
comment on column svc.health_scores.cause_id is 'Id of the event or job.';
comment on column svc.health_scores.config_version is 'The version evaluated.';
