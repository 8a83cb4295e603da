--! Previous: sha1:2d58cddc5390647302ac511e631a5a373dbdedc4
--! Hash: sha1:efcfa40f06d89551535d5a4d354a69aa90fa1256

-- The nine constraints of svc.recomputes become one that calls a function: the text of each was read anew for each customer of a recompute.
create or replace function svc.is_consistent_job(
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
-- On a cluster, the nodes need the function before the constraint.
do $$
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    if exists (select from pg_catalog.pg_dist_partition as p where p.logicalrelid = 'svc.recomputes'::regclass) then
      perform create_distributed_function(
        'svc.is_consistent_job(text, text, boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean)'::regprocedure
      );
    end if;
  end if;
end
$$;
alter table svc.recomputes drop constraint if exists recomputes_kind_known;
alter table svc.recomputes drop constraint if exists recomputes_status_known;
alter table svc.recomputes drop constraint if exists recomputes_have_their_model;
alter table svc.recomputes drop constraint if exists recomputes_sampled_unless_replayed;
alter table svc.recomputes drop constraint if exists recomputes_asked_by_backtests;
alter table svc.recomputes drop constraint if exists recomputes_reported_by_backtests;
alter table svc.recomputes drop constraint if exists recomputes_retried_later;
alter table svc.recomputes drop constraint if exists recomputes_finished_once;
alter table svc.recomputes drop constraint if exists recomputes_completed_at_no_customer;
alter table svc.recomputes drop constraint if exists recomputes_consistent;
-- Reads the table, which is small: a row for each recompute that there ever was. In a block, so that a cluster sends its nodes this statement
-- alone: of a text with several it would send all, which they refuse.
do $$
begin
  alter table svc.recomputes add constraint recomputes_consistent check (svc.is_consistent_job(
    kind, status, snapshot is not null, version is not null, hash is not null, sample_size is not null, question is not null,
    report is not null, next_attempt_at is not null, finished_at is not null, last_customer_id is not null
  ));
end
$$;
comment on function svc.is_consistent_job(
  text, text, boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean, boolean
) is
  'Whether a row of svc.recomputes is of a known kind and status, has the model, the question and the report of its kind, and the instants
of its status.';
