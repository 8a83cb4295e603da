-- The members that a webhook adds about a customer: those of name, owner, renewal, url, traits and facts, in this order, that are in
-- `include` and have a value. Name, owner and renewal are the traits that the model's display declares, cut like in lists of the console.
-- A chosen trait is left out if the customer does not have it or it exceeds 2 KiB. `run` is the rule execution that made the emission, as
-- from svc.emitting_run. A function that returns a table of one row and has no settings, so that it is inlined into the calling statement.
-- Raises nothing, locks nothing.
create or replace function svc.webhook_customer(include text[], traits jsonb, display json, url text, run json)
returns table (customer json)
language sql
-- Rendering JSON is only stable.
stable
parallel safe
begin atomic
  select coalesce(json_object_agg(m.name, m.value order by m.place) filter (where m.value is not null), '{}')
  from (
    select d.place, d.name, to_json(btrim(t.value)) as value
    from (values (1, 'name'), (2, 'owner'), (3, 'renewal')) as d (place, name)
    cross join lateral (select left(webhook_customer.traits ->> (webhook_customer.display ->> d.name), 256)) as t (value)
    where d.name = any(webhook_customer.include)
      -- Has any visible character: otherwise a message would have no subject.
      and t.value ~ concat(
        '[^\s\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f',
        '\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]'
      )
    union all
    select 4, 'url', to_json(webhook_customer.url)
    where 'url' = any(webhook_customer.include)
    union all
    select
      5, 'traits',
      coalesce(
        json_object_agg(t.name, webhook_customer.traits -> t.name order by t.place)
          filter (where octet_length((webhook_customer.traits -> t.name)::text) <= 2048),
        '{}'
      )
    from (
      select i.place, substr(i.name, 8) as name
      from unnest(webhook_customer.include) with ordinality as i (name, place)
      where starts_with(i.name, 'traits.')
    ) as t
    having count(*) > 0
    union all
    select
      6, 'facts',
      json_build_object('triggeredBy', webhook_customer.run -> 'triggeredBy', 'conditions', webhook_customer.run -> 'conditions')
    where 'facts' = any(webhook_customer.include) and webhook_customer.run is not null
  ) as m;
end;

comment on function svc.webhook_customer(text[], jsonb, json, text, json) is 'The members that a webhook adds about a customer.';
