create function svc.is_consistent_job(
  kind text, status text, has_snapshot boolean, has_version boolean, has_hash boolean, is_sampled boolean, has_question boolean,
  has_report boolean, is_tried_again boolean, is_finished boolean, has_last_customer boolean
)
returns boolean
language plpgsql
immutable
parallel safe
as $$
begin
  return status in ('queued', 'running', 'retrying', 'completed', 'dead_letter')
    and case kind
      when 'recompute' then not (has_snapshot or has_hash or is_sampled)
      when 'dry_run' then not (has_snapshot or has_hash or is_sampled)
      when 'preview' then has_snapshot and has_hash
      when 'backtest' then has_snapshot <> has_version and has_hash
      else false
    end
    and has_question = (kind = 'backtest')
    and (kind = 'backtest' or not has_report)
    and (has_report or kind <> 'backtest' or status <> 'completed')
    and is_tried_again = (status = 'retrying')
    and is_finished = (status in ('completed', 'dead_letter'))
    -- So that erasing a customer need not look through all that were ever completed.
    and not (has_last_customer and status = 'completed');
end;
$$;
comment on function svc.is_consistent_job(
  text, text, boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean
) is
  'Whether a row of svc.recomputes is of a known kind and status, has the model, the question and the report of its kind, and the instants
of its status.';

create table svc.recomputes (
  environment_id integer not null,
  recompute_id text not null,
  recompute_seq bigint generated always as identity,
  kind text not null,
  customer_id text collate "C",
  sample_size integer,
  sample_share float8,
  version integer,
  snapshot json,
  hash text,
  question json,
  pinned_at timestamptz not null,
  status text not null default 'queued',
  attempt integer not null default 0,
  holder_pid integer,
  holder_key integer,
  failures integer not null default 0,
  done_at_attempt integer not null default 0,
  next_attempt_at timestamptz,
  error text,
  exact_from timestamptz,
  customers_total integer,
  customers_done integer not null default 0,
  last_customer_id text collate "C",
  customers_changed integer not null default 0,
  lifecycle_changed integer not null default 0,
  health_changed integer not null default 0,
  segments_entered integer not null default 0,
  segments_exited integer not null default 0,
  signals_raised integer not null default 0,
  signals_cleared integer not null default 0,
  rules_added bigint not null default 0,
  rules_removed bigint not null default 0,
  emissions_added bigint not null default 0,
  outbox_seq bigint,
  outbox_emissions integer not null default 0,
  report json,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  swept_at timestamptz,
  primary key (environment_id, recompute_id),
  -- One constraint that calls a function: PostgreSQL reads the text of each constraint anew for each update, and a recompute updates its
  -- row for each customer. As nine expressions they took an eighth of a recompute.
  constraint recomputes_consistent check (svc.is_consistent_job(
    kind, status, snapshot is not null, version is not null, hash is not null, sample_size is not null, question is not null,
    report is not null, next_attempt_at is not null, finished_at is not null, last_customer_id is not null
  ))
) with (fillfactor = 50);
comment on table svc.recomputes is
  'Recomputes, dry runs, previews of models and backtests: the queue, what each is pinned to, how far it has come, and what it came to.
Of an environment the oldest unfinished recompute or dry run runs, and beside it the oldest unfinished preview and backtest.';
comment on column svc.recomputes.environment_id is 'The environment.';
comment on column svc.recomputes.recompute_id is 'Public id.';
comment on column svc.recomputes.recompute_seq is 'Order in the queue.';
comment on column svc.recomputes.kind is
  'recompute writes what it finds, dry_run only tells, preview tells what another model would make of it, backtest
what a model foresaw.';
comment on column svc.recomputes.customer_id is 'The one customer it is for; null for all.';
comment on column svc.recomputes.sample_size is 'About how many customers a preview or backtest looks at; null for all.';
comment on column svc.recomputes.sample_share is 'The share of all that this was when it began.';
comment on column svc.recomputes.version is
  'Pinned: the version to replay under; of a preview the one to compare with. Null before the first deploy, and of a backtest whose model
is not deployed.';
comment on column svc.recomputes.snapshot is
  'The model that a preview or backtest is of, where that is not deployed; empty once it has finished.';
comment on column svc.recomputes.hash is 'The hash of that; of a backtest also where its model is a version.';
comment on column svc.recomputes.question is
  'What a backtest asks: {outcome, within, every, from, to, end, traits, against}; against is the version beside the judged one, or null.';
comment on column svc.recomputes.pinned_at is
  'Pinned: the instant to evaluate through. Customers that were created after it are left out.';
comment on column svc.recomputes.status is 'queued, running, retrying, completed or dead_letter.';
comment on column svc.recomputes.attempt is 'Counts whenever a worker takes it. What a former one still writes is refused.';
comment on column svc.recomputes.holder_pid is 'Whose the present attempt is: the process of the session that took it.';
comment on column svc.recomputes.holder_key is
  'By which that session is known to live: it holds the advisory lock (7501, holder_key), drawn by lot, to its end.';
comment on column svc.recomputes.failures is 'Failures since it last got further; 0 if it was cancelled.';
comment on column svc.recomputes.done_at_attempt is 'customers_done when the present attempt began.';
comment on column svc.recomputes.next_attempt_at is 'While retrying: when it is tried again.';
comment on column svc.recomputes.error is 'Why it failed last, and what to do.';
comment on column svc.recomputes.exact_from is
  'The instant from which all operations were still stored when it began, if retention had removed earlier ones of its customers.';
comment on column svc.recomputes.customers_total is 'How many customers there were when it began; null before.';
comment on column svc.recomputes.customers_done is 'How many of them are done.';
comment on column svc.recomputes.last_customer_id is
  'The last of them; they are taken in order of their ids. Null when it is completed. Erasing that customer puts the one before it here.';
comment on column svc.recomputes.customers_changed is
  'Customers who got a row in svc.recompute_customers, also where it was erased or swept since.';
comment on column svc.recomputes.lifecycle_changed is 'Customers whose final lifecycle state changes.';
comment on column svc.recomputes.health_changed is 'Customers whose final health changes.';
comment on column svc.recomputes.segments_entered is 'Memberships that begin.';
comment on column svc.recomputes.segments_exited is 'Memberships that end.';
comment on column svc.recomputes.signals_raised is 'Signals that are raised.';
comment on column svc.recomputes.signals_cleared is 'Signals that are cleared.';
comment on column svc.recomputes.rules_added is 'Runs of rules that were not in the log.';
comment on column svc.recomputes.rules_removed is 'Runs of rules in the log that the replay has not.';
comment on column svc.recomputes.emissions_added is 'Emissions of it: corrections and expirations.';
comment on column svc.recomputes.outbox_seq is
  'The evaluation_seq of emissions that are written and not in svc.emission_batches yet: they are told of together.';
comment on column svc.recomputes.outbox_emissions is 'How many these are.';
comment on column svc.recomputes.report is 'What a completed backtest came to; it names no customer, and stays.';
comment on column svc.recomputes.requested_by is 'E-mail address of who asked for it.';
comment on column svc.recomputes.requested_at is 'When it was asked for.';
comment on column svc.recomputes.started_at is 'When it was first taken.';
comment on column svc.recomputes.finished_at is 'When it was completed or given up.';
comment on column svc.recomputes.swept_at is
  'When its rows of svc.recompute_customers were removed. One that was given up, swept and then retried has some again when it ends anew.';
create index recomputes_seq_idx on svc.recomputes (environment_id, recompute_seq);
create index recomputes_backtests_idx on svc.recomputes (environment_id, recompute_seq) where kind = 'backtest';
-- Erasure finds by them what is for a customer alone, and what may have come as far as that customer.
create index recomputes_customer_idx on svc.recomputes (environment_id, customer_id) where customer_id is not null;
create index recomputes_resumable_idx on svc.recomputes (environment_id, recompute_seq) where status <> 'completed';
-- What is still to be swept.
create index recomputes_unswept_idx on svc.recomputes (finished_at) where finished_at > coalesce(swept_at, '-infinity');
create index recomputes_unfinished_idx on svc.recomputes (recompute_seq) where status in ('queued', 'running', 'retrying');

create table svc.recompute_customers (
  environment_id integer not null,
  recompute_id text not null,
  customer_id text not null collate "C",
  weight real not null,
  -- json, not jsonb: components are shown in the author's order.
  difference json not null,
  primary key (environment_id, recompute_id, customer_id)
);
comment on table svc.recompute_customers is
  'What a recompute, a dry run or a preview changes: one row per customer with a difference, a run of a rule or an emission; and the
samples of a backtest: one row per customer that was known at one of its instants. Kept for 30 days after it was completed or given up.';
comment on column svc.recompute_customers.environment_id is 'The environment.';
comment on column svc.recompute_customers.recompute_id is 'The recompute.';
comment on column svc.recompute_customers.customer_id is 'The customer.';
comment on column svc.recompute_customers.weight is 'How telling the difference is: the greatest are shown first; 0 for samples.';
comment on column svc.recompute_customers.difference is
  'The customer''s state before and after, runs of rules and emissions; of a backtest {customerId, said, outcomes}.';
create index recompute_customers_weight_idx on svc.recompute_customers (environment_id, recompute_id, weight desc, customer_id);
-- Erasure finds a customer by it.
create index recompute_customers_customer_idx on svc.recompute_customers (environment_id, customer_id);
