-- A signal raised for a customer, in the format of documents.
-- Raises nothing, locks nothing.
create or replace function svc.signal_item(signal_id text, severity text, message text, raised_at timestamptz)
returns json
language sql
stable
parallel safe
return json_build_object(
  'signalId', signal_item.signal_id, 'severity', signal_item.severity, 'message', signal_item.message,
  'raisedAt', svc.iso(signal_item.raised_at)
);

comment on function svc.signal_item(text, text, text, timestamptz) is 'A signal, in the format of documents.';
