--! Previous: sha1:065b4e2a2eb39999ea44b4f0cbf758039edce43b
--! Hash: sha1:a81ad531fa8fb599f3c9336d1ae704abb08b370a

-- Backtests are jobs of the queue of recomputes. The table has a row for each job ever, so its constraints are checked in a moment.
alter table svc.recomputes add column if not exists question json;
alter table svc.recomputes add column if not exists report json;
alter table svc.recomputes
  drop constraint if exists recomputes_kind_known,
  drop constraint if exists recomputes_preview_has_a_model,
  drop constraint if exists recomputes_sampled_by_previews,
  drop constraint if exists recomputes_have_their_model,
  drop constraint if exists recomputes_sampled_unless_replayed,
  drop constraint if exists recomputes_asked_by_backtests,
  drop constraint if exists recomputes_reported_by_backtests;
alter table svc.recomputes
  add constraint recomputes_kind_known check (kind in ('recompute', 'dry_run', 'preview', 'backtest')),
  add constraint recomputes_have_their_model check (
    case kind
      when 'preview' then snapshot is not null and hash is not null
      when 'backtest' then (snapshot is null) = (version is not null) and hash is not null
      else snapshot is null and hash is null
    end
  ),
  add constraint recomputes_sampled_unless_replayed check (sample_size is null or kind in ('preview', 'backtest')),
  add constraint recomputes_asked_by_backtests check ((kind = 'backtest') = (question is not null)),
  add constraint recomputes_reported_by_backtests check (
    case when kind = 'backtest' then status <> 'completed' or report is not null else report is null end
  );
create index if not exists recomputes_backtests_idx on svc.recomputes (environment_id, recompute_seq) where kind = 'backtest';

comment on table svc.recomputes is
  'Recomputes, dry runs, previews of models and backtests: the queue, what each is pinned to, how far it has come, and what it came to.
Of an environment the oldest unfinished recompute or dry run runs, and beside it the oldest unfinished preview and backtest.';
comment on column svc.recomputes.kind is
  'recompute writes what it finds, dry_run only tells, preview tells what another model would make of it, backtest
what a model foresaw.';
comment on column svc.recomputes.sample_size is 'About how many customers a preview or backtest looks at; null for all.';
comment on column svc.recomputes.version is
  'Pinned: the version to replay under; of a preview the one to compare with. Null before the first deploy, and of a backtest whose model
is not deployed.';
comment on column svc.recomputes.snapshot is
  'The model that a preview or backtest is of, where that is not deployed; empty once it has finished.';
comment on column svc.recomputes.hash is 'The hash of that; of a backtest also where its model is a version.';
comment on column svc.recomputes.question is
  'What a backtest asks: {outcome, within, every, from, to, end, traits, against}; against is the version beside the judged one, or null.';
comment on column svc.recomputes.report is 'What a completed backtest came to; it names no customer, and stays.';
comment on table svc.recompute_customers is
  'What a recompute, a dry run or a preview changes: one row per customer with a difference, a run of a rule or an emission; and the
samples of a backtest: one row per customer that was known at one of its instants. Kept for 30 days after it was completed or given up.';
comment on column svc.recompute_customers.weight is 'How telling the difference is: the greatest are shown first; 0 for samples.';
comment on column svc.recompute_customers.difference is
  'The customer''s state before and after, runs of rules and emissions; of a backtest {customerId, said, outcomes}.';
comment on column iam.plans.previews is 'Previews and backtests of an environment that are not finished.';
