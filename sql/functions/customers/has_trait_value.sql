-- Whether a customer's trait passes a filter: it equals the value or is a list with it, where a number or boolean is also the text that
-- spells it; or it lies within {atLeast, atMost}, both included, of which one may be missing. Numbers are compared with numbers, and texts
-- with texts, as far as the bound is long: so a day includes its instants, and a year, though a number, its days. Null if there is no such
-- trait.
-- Raises nothing, locks nothing.
create or replace function svc.has_trait_value(trait jsonb, filter jsonb)
returns boolean
language sql
immutable
parallel safe
return case
  when jsonb_typeof(has_trait_value.filter) = 'object' and has_trait_value.filter <> '{}'
    and has_trait_value.filter - array['atLeast', 'atMost'] = '{}' then not exists (
    select from jsonb_each(has_trait_value.filter) as b (name, bound)
    where not (
      case
        when jsonb_typeof(b.bound) = 'number' and jsonb_typeof(has_trait_value.trait) = 'number' then case b.name
          when 'atLeast' then has_trait_value.trait >= b.bound
          else has_trait_value.trait <= b.bound
        end
        when jsonb_typeof(has_trait_value.trait) = 'string' and (
          jsonb_typeof(b.bound) = 'string' or jsonb_typeof(b.bound) = 'number' and has_trait_value.trait #>> '{}' ~ '^\d{4}-\d\d'
        ) then case b.name
          when 'atLeast' then left(has_trait_value.trait #>> '{}', length(b.bound #>> '{}')) >= (b.bound #>> '{}') collate "C"
          else left(has_trait_value.trait #>> '{}', length(b.bound #>> '{}')) <= (b.bound #>> '{}') collate "C"
        end
        else false
      end
    )
  ) and has_trait_value.trait is not null
  else has_trait_value.trait @> has_trait_value.filter
    or jsonb_typeof(has_trait_value.filter) in ('number', 'boolean')
    and has_trait_value.trait @> to_jsonb(has_trait_value.filter #>> '{}')
end;

comment on function svc.has_trait_value(jsonb, jsonb) is 'Whether a customer''s trait passes a filter.';
