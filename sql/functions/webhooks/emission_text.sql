-- Describes an emission in a sentence, for people who read it in a chat: the message of its rule, or a text for its type. `customer` is the
-- customer's name or id; `bands` are those of the model's health, from the highest to the lowest, which show whether a change is a fall.
-- One line of at most 2,000 characters, without characters that change the direction of text. A function that returns a table of one row
-- and has no settings, so that it is inlined into the calling statement.
-- Raises nothing, locks nothing.
create or replace function svc.emission_text(event_type text, source text, metadata jsonb, customer text, bands json)
returns table (said text)
language sql
immutable
parallel safe
begin atomic
  select
    coalesce(
      nullif(left(btrim(regexp_replace(m.said, '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+', ' ', 'g')), 2000), ''),
      -- A chat rejects a message without a text.
      emission_text.event_type
    )
  from (
    select
      case
        when emission_text.source = 'rule' then coalesce(d.message, format('%s: %s', c.customer, emission_text.event_type))
        when emission_text.event_type = 'customer.created' then format('%s was seen for the first time', c.customer)
        when emission_text.source = 'lifecycle' then
          format('%s: lifecycle went from %s to %s', c.customer, d.previous_lifecycle, d.new_lifecycle)
        when emission_text.event_type = 'journey.started' then format('%s started journey %s', c.customer, d.journey)
        when emission_text.event_type = 'journey.step_completed' then
          format('%s completed step %s of journey %s', c.customer, d.step, d.journey)
        when emission_text.event_type = 'journey.completed' then format('%s completed journey %s', c.customer, d.journey)
        when emission_text.event_type = 'journey.expired' then format('%s: journey %s expired', c.customer, d.journey)
        when emission_text.event_type = 'segment.entered' then format('%s entered segment %s', c.customer, d.segment)
        when emission_text.event_type = 'segment.exited' then format('%s left segment %s', c.customer, d.segment)
        when emission_text.source = 'health' and d.new_band is null then
          format('%s: health was %s and is now unknown', c.customer, d.previous_band)
        when emission_text.source = 'health' and d.previous_band is null then
          format('%s: health is %s (%s)', c.customer, d.new_band, round(d.overall))
        when emission_text.source = 'health' then
          format(
            '%s: health %s from %s to %s (%s)', c.customer,
            case when p.new_place > p.previous_place then 'fell' when p.new_place < p.previous_place then 'rose' else 'went' end,
            d.previous_band, d.new_band, round(d.overall)
          )
        when emission_text.event_type = 'signal.raised' then
          concat(format('%s: signal %s (%s) was raised', c.customer, d.signal, d.severity), ': ' || d.message)
        when emission_text.event_type = 'signal.cleared' then format('%s: signal %s was cleared', c.customer, d.signal)
        else format('%s: %s', c.customer, emission_text.event_type)
      end as said
    from (select emission_text.customer) as c
    cross join jsonb_to_record(emission_text.metadata) as d (
      message text, previous_lifecycle text, new_lifecycle text, journey text, step text, segment text, previous_band text, new_band text,
      overall numeric, signal text, severity text
    )
    cross join lateral (
      select
        max(b.place) filter (where b.band ->> 'id' = d.new_band) as new_place,
        max(b.place) filter (where b.band ->> 'id' = d.previous_band) as previous_place
      from json_array_elements(coalesce(emission_text.bands, '[]')) with ordinality as b (band, place)
    ) as p
  ) as m;
end;

comment on function svc.emission_text(text, text, jsonb, text, json) is 'An emission described in a sentence.';
