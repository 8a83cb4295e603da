-- Every emission becomes one delivery per enabled webhook that wants its type, in the emissions' own transaction. A webhook that this
-- statement sees existed before them, so the rule "only what is emitted after its creation" needs no comparison of times.
-- Raises nothing. Locks the webhooks against deletion (foreign key).
create or replace function svc.tg_emission_batches__fan_out()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  insert into svc.deliveries (environment_id, webhook_id, emission_seq)
  select w.environment_id, w.webhook_id, m.emission_seq
  from new_batches as b
  join svc.webhooks as w on w.environment_id = b.environment_id and w.disabled_at is null
  join svc.emissions as m
    on m.environment_id = b.environment_id
    and m.emission_seq between b.evaluation_seq << 16 and (b.evaluation_seq << 16) + 65535
  where svc.webhook_matches(w.event_types, m.event_type)
  order by w.environment_id, w.webhook_id, m.emission_seq;

  if found then
    -- A hint: workers look for themselves every second.
    perform pg_notify('svc_deliveries', '');
  end if;
  return null;
end;
$$;

comment on function svc.tg_emission_batches__fan_out() is 'Makes the deliveries of new emissions.';

create or replace trigger _500_fan_out
after insert on svc.emission_batches
referencing new table as new_batches
for each statement
execute function svc.tg_emission_batches__fan_out();

comment on trigger _500_fan_out on svc.emission_batches is 'Makes the deliveries of new emissions.';
