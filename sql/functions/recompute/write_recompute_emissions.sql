-- Writes emissions of a customer's recompute: [{type, source, metadata, at (ms)}]. They are numbered within the job's outbox, which is kept
-- in its row until svc.flush_recompute_outbox delivers them, because an outbox row and a commit on disk for each customer would cost more
-- than all the rest.
-- Raises the constraints' errors. Locks the job's row, which the caller has locked already.
create or replace function svc.write_recompute_emissions(
  environment_id integer, recompute_id text, version integer, customer_id text, emissions json
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _id constant integer := write_recompute_emissions.environment_id;
  -- Positions in an outbox row are 16 bits wide.
  _size constant integer := 65536;
  _amount constant integer := json_array_length(write_recompute_emissions.emissions);
  _from integer := 0;
  _part integer;
  _seq bigint;
  _used integer;
begin
  perform svc.count_changes(
    _id,
    (
      select json_agg(json_build_object(
        'measure', r.source, 'at', r.at, 'name', r.metadata ->> r.source, 'value', split_part(r.type, '.', 2), 'count', 1
      ))
      from json_to_recordset(write_recompute_emissions.emissions) as r (type text, source text, metadata json, at bigint)
      where r.source in ('segment', 'signal') and r.metadata ->> r.source is not null
    )
  );
  while _from < _amount loop
    select r.outbox_seq, r.outbox_emissions into _seq, _used
    from svc.recomputes as r
    where r.environment_id = _id and r.recompute_id = write_recompute_emissions.recompute_id;
    if _used = _size then
      perform svc.flush_recompute_outbox(_id, write_recompute_emissions.recompute_id);
      _seq := null;
      _used := 0;
    end if;
    _seq := coalesce(_seq, nextval(svc.evaluation_seq(_id)));
    _part := least(_size - _used, _amount - _from);

    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    select
      h.environment_id, _seq * _size + _used + r.ordinality - 1 - _from, write_recompute_emissions.customer_id, r.type, r.source,
      r.metadata, timestamptz 'epoch' + r.at * interval '1 millisecond', 'job', write_recompute_emissions.recompute_id,
      write_recompute_emissions.version
    from svc.homes as h
    cross join rows from (json_to_recordset(write_recompute_emissions.emissions) as (
      type text, source text, metadata jsonb, at bigint
    )) with ordinality as r
    where h.environment_id = _id and r.ordinality > _from and r.ordinality <= _from + _part;

    update svc.recomputes as r
    set outbox_seq = _seq, outbox_emissions = _used + _part
    where r.environment_id = _id and r.recompute_id = write_recompute_emissions.recompute_id;
    _from := _from + _part;
  end loop;
end;
$$;

comment on function svc.write_recompute_emissions(integer, text, integer, text, json) is
  'Writes emissions of a customer''s recompute, to be delivered later.';
