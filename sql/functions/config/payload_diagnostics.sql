-- Lists all violations of a payload, field by field in the order of their names, then undeclared members: the slow path
-- of ingestion. kind is properties (of the event called name) or traits; fields are the declared ones; paths begin with path_prefix.
-- Codes: MISSING_REQUIRED_PROPERTY, INVALID_PROPERTY_TYPE, INVALID_PROPERTY_ENUM, UNKNOWN_PROPERTY; INVALID_TRAIT_TYPE,
-- INVALID_TRAIT_ENUM, UNKNOWN_TRAIT; INVALID_STRUCTURE for values that no declared type allows: an object, or an array in an array.
-- Raises nothing, locks nothing.
create or replace function svc.payload_diagnostics(kind text, name text, fields jsonb, payload jsonb, path_prefix text)
returns table (code text, message text, path text, value jsonb, reason text, fix text)
language sql
immutable
set search_path = ''
begin atomic
  with declared as (
    select
      f.key, f.value as field, payload_diagnostics.payload -> f.key as value, payload_diagnostics.payload ? f.key as present,
      svc.member_path(payload_diagnostics.path_prefix, f.key) as path
    from jsonb_each(payload_diagnostics.fields) as f
  ),
  -- The values whose type is checked: of the fields, then of the items of arrays.
  checked as (
    select d.key, 0::bigint as position, d.path, d.value, d.field
    from declared as d
    where d.present and not (payload_diagnostics.kind = 'traits' and d.value = 'null')
    union all
    select d.key, i.ordinality, format('%s[%s]', d.path, i.ordinality - 1), i.item, d.field -> 'items'
    from declared as d
    cross join lateral jsonb_array_elements(case jsonb_typeof(d.value) when 'array' then d.value end)
      with ordinality as i (item)
    where d.field ->> 'type' = 'array'
  ),
  violation as (
    select 0 as section, d.key, 0::bigint as position, 'missing' as what, d.path, null::jsonb as value, d.field
    from declared as d
    where payload_diagnostics.kind = 'properties' and not d.present and not d.field ? 'optional'
    union all
    select
      0, c.key, c.position,
      case
        when jsonb_typeof(c.value) = 'object' or (c.position > 0 and jsonb_typeof(c.value) = 'array') then 'structure'
        else 'type'
      end,
      c.path, c.value, c.field
    from checked as c
    where not svc.conforms_to_type(c.value, c.field ->> 'type')
    union all
    select 0, c.key, c.position, 'enum', c.path, c.value, c.field
    from checked as c
    where c.field ? 'enum' and jsonb_typeof(c.value) = 'string' and not (c.field -> 'enum') ? (c.value #>> '{}')
    union all
    select 1, p.key, 0, 'unknown', svc.member_path(payload_diagnostics.path_prefix, p.key), p.value, null
    from jsonb_each(payload_diagnostics.payload) as p
    where not payload_diagnostics.fields ? p.key
  )
  select
    case v.what
      when 'missing' then 'MISSING_REQUIRED_PROPERTY'
      when 'unknown' then 'UNKNOWN_' || w.noun
      when 'structure' then 'INVALID_STRUCTURE'
      else format('INVALID_%s_%s', w.noun, upper(v.what))
    end,
    case v.what
      when 'missing' then format('%s requires the property "%s".', w.owner, s.name)
      when 'unknown' then format('%s no %s "%s".', w.declares, lower(w.noun), s.name)
      when 'structure' then format(
        '%s of the %s "%s" is %s, which no %s.', s.part, lower(w.noun), s.name, svc.type_in_words(jsonb_typeof(v.value)),
        case when v.position > 0 then 'item may be' else 'declared type is' end
      )
      when 'type' then format('%s of the %s "%s" must be %s.', s.part, lower(w.noun), s.name, svc.type_in_words(v.field ->> 'type'))
      when 'enum' then format('%s of the %s "%s" must be one of the declared ones.', s.part, lower(w.noun), s.name)
    end,
    v.path,
    -- Very long values are left out.
    case when length(v.value::text) <= 1024 then v.value end,
    case v.what
      when 'missing' then 'It is not there.'
      when 'unknown' then 'The active schema is strict and does not declare it.'
      when 'structure' then format('It is %s.', svc.type_in_words(jsonb_typeof(v.value)))
      when 'type' then case jsonb_typeof(v.value)
        when 'string' then case v.field ->> 'type' when 'date' then 'It is another text.' else 'It is a text.' end
        when 'null' then 'It is null.'
        else format('It is %s.', svc.type_in_words(jsonb_typeof(v.value)))
      end
      when 'enum' then (
        -- Shortened if there are many.
        select format(
          'Declared are %s%s.',
          string_agg(left(c.choice::text, 256), ', ' order by c.ordinality) filter (where c.ordinality <= 12),
          case when count(*) > 12 then ', …' end
        )
        from jsonb_array_elements(v.field -> 'enum') with ordinality as c (choice)
      )
    end,
    case v.what
      when 'missing' then 'Send the property, or declare it optional in the model and deploy it.'
      when 'unknown' then format('Declare the %s in the model and deploy it, or do not send it.', lower(w.noun))
      when 'structure' then case
        when v.position > 0 then 'Send a flat array.'
        else format('Send its members as %s of their own, each declared.', w.nouns)
      end
      when 'type' then case
        -- No type allows null, so the only change in the model that helps is to make the property optional.
        when v.value = 'null' and v.position = 0 then format(
          'Send %s, or leave the property out%s.',
          svc.type_in_words(v.field ->> 'type'),
          case when not v.field ? 'optional' then ' once it is optional in the model' end
        )
        else format('Send %s, or change the type in the model and deploy it.', svc.type_in_words(v.field ->> 'type'))
      end
      when 'enum' then 'Send one of them, or add the value in the model and deploy it.'
    end
  from violation as v
  cross join lateral (
    select
      case payload_diagnostics.kind when 'traits' then 'TRAIT' else 'PROPERTY' end as noun,
      payload_diagnostics.kind as nouns,
      format('The event "%s"', payload_diagnostics.name) as owner,
      case payload_diagnostics.kind
        when 'traits' then 'The active configuration declares'
        else format('The event "%s" has', payload_diagnostics.name)
      end as declares
  ) as w
  cross join lateral (
    select
      left(v.key, 256) as name,
      case when v.position > 0 then format('Item %s', v.position - 1) else 'The value' end as part
  ) as s
  order by v.section, v.key collate "C", v.position;
end;

comment on function svc.payload_diagnostics(text, text, jsonb, jsonb, text) is 'All violations of a payload.';
