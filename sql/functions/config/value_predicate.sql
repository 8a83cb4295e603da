-- The part of a payload predicate for the values at an accessor, in lax mode: $."name" for a property, @ for an item.
-- Every comparison is guarded by a type test, because lax mode would look into arrays.
-- Raises nothing, locks nothing.
create or replace function svc.value_predicate(accessor text, field jsonb)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
-- A string body, not a parsed one, because it calls itself for items.
as $$
select concat_ws(
  ' && ',
  format('%s.type() == "%s"', accessor, case field ->> 'type' when 'date' then 'string' else field ->> 'type' end),
  case
    when field ? 'enum' then (
      select '(' || string_agg(format('%s == %s', accessor, choice), ' || ' order by ordinality) || ')'
      from jsonb_array_elements(field -> 'enum') with ordinality as e (choice)
    )
  end,
  case
    -- Matches only valid dates; the 29th of February is left to the slow path, which knows leap years. Groups that capture would take four
    -- times as long to compile, for each date.
    when field ->> 'type' = 'date' then format(
      '%s like_regex "%s"',
      accessor,
      concat(
        '^[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)',
        '(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,9})?)?(?:Z|[-+](?:[01][0-9]|2[0-3]):[0-5][0-9]))?$'
      )
    )
  end,
  case
    when field ->> 'type' = 'array' then concat_ws(
      ' && ',
      -- Compares the list of the items' types: a filter on the items themselves would look into arrays among them.
      format(
        '!exists(%s[*].type() ? (@ != "%s"))',
        accessor,
        case field #>> '{items,type}' when 'date' then 'string' else field #>> '{items,type}' end
      ),
      case
        when field -> 'items' ? 'enum' or field #>> '{items,type}' = 'date'
          then format('!exists(%s[*] ? (!(%s)))', accessor, svc.value_predicate('@', field -> 'items'))
      end
    )
  end
);
$$;

comment on function svc.value_predicate(text, jsonb) is 'The part of a payload predicate for one property or item.';
