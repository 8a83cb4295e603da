-- The next operations in quarantine that are named or pass the filters (null for none), in the order of acceptance: at most 500 or 8 MiB,
-- among the 2,000 after a number. resume is where the next step continues, null at the end.
-- Raises nothing, locks nothing.
create or replace function svc.quarantine_step(
  environment_id integer, after_seq bigint, ids text[], event text, code text, out seqs bigint[], out resume bigint
)
language sql
stable
set search_path = ''
as $$
  with read as materialized (
    select q.seq, q.bytes, (
      (quarantine_step.event is null or q.event = quarantine_step.event)
      and (quarantine_step.code is null or q.code = quarantine_step.code)
    ) is true as matches
    from svc.quarantined_operations as q
    where q.environment_id = quarantine_step.environment_id
      and q.seq > quarantine_step.after_seq
      and (
        quarantine_step.ids is null
        or q.seq = any(array(select svc.quarantined_seq(i.id) from unnest(quarantine_step.ids) as i (id)))
      )
    order by q.seq
    limit 2000
  ),
  taken as materialized (
    select r.seq
    from (
      select
        k.seq, row_number() over (order by k.seq) as n, coalesce(sum(k.bytes) over earlier, 0) as bytes_before
      from read as k
      where k.matches
      window earlier as (order by k.seq rows between unbounded preceding and 1 preceding)
    ) as r
    where r.n <= 500 and r.bytes_before < 8388608
  )
  select
    array(select t.seq from taken as t order by t.seq),
    case
      when (select count(*) from taken) < (select count(*) from read as r where r.matches) then (select max(t.seq) from taken as t)
      when (select count(*) from read) = 2000 then (select max(r.seq) from read as r)
    end
$$;

comment on function svc.quarantine_step(integer, bigint, text[], text, text) is
  'The next operations in quarantine that are named or pass the filters.';
