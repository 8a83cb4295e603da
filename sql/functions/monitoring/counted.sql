-- A number of things in words: "1 customer is", "1,200 customers are"; for counts that stop at 10,001, "more than 10,000 …".
-- Raises nothing, locks nothing.
create or replace function svc.counted(amount bigint, one text, many text)
returns text
language sql
immutable
parallel safe
set search_path = ''
return case
  when counted.amount = 1 then '1 ' || counted.one
  when counted.amount > 10000 then 'more than 10,000 ' || counted.many
  else trim(to_char(counted.amount, '999,999')) || ' ' || counted.many
end;

comment on function svc.counted(bigint, text, text) is 'A number of things in words.';
