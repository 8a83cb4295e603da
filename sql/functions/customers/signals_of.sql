-- The signals that are raised for a customer, by id in the order of their bytes.
-- Raises nothing, locks nothing.
create or replace function svc.signals_of(environment_id integer, customer_id text)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  select coalesce(
    json_agg(
      json_build_object(
        'signalId', s.signal_id, 'severity', s.severity, 'message', s.message, 'raisedAt', svc.iso(s.raised_at)
      )
      order by s.signal_id collate "C"
    ),
    '[]'
  )
  from svc.signals as s
  where s.environment_id = signals_of.environment_id
    and s.customer_id = signals_of.customer_id
    and s.cleared_at is null;
end;

comment on function svc.signals_of(integer, text) is 'The signals that are raised for a customer.';
