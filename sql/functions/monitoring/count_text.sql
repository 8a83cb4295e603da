-- A number of things in words: "1 customer is", "1,200 customers are"; for counts that stop at 10,001, "more than 10,000 …".
-- Raises nothing, locks nothing.
create or replace function svc.count_text(amount bigint, one text, many text)
returns text
language sql
immutable
parallel safe
set search_path = ''
return case
  when count_text.amount = 1 then '1 ' || count_text.one
  when count_text.amount > 10000 then 'more than 10,000 ' || count_text.many
  else trim(to_char(count_text.amount, '999,999')) || ' ' || count_text.many
end;

comment on function svc.count_text(bigint, text, text) is 'A number of things in words.';
