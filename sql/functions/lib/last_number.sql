-- The number that a sequence gave last; null for none. Reads the sequence as of now, not as of the statement's snapshot.
-- pg_sequence_last_value() would keep the sequence locked until the transaction ends, and PostgreSQL's table of locks has room for some ten
-- thousand, which 2,500 projects have as sequences. A lock of a subtransaction that fails is released with it.
-- Raises 42P01 if there is no such sequence any more. Locks nothing beyond the call.
create or replace function svc.last_number(sequence regclass)
returns bigint
language plpgsql
stable
strict
set search_path = ''
as $$
declare
  _last bigint;
begin
  execute format('select case when s.is_called then s.last_value end from %s as s', last_number.sequence) into _last;
  raise exception using errcode = 'SV000', message = 'Releases the lock of the sequence.';
exception
  when sqlstate 'SV000' then return _last;
end;
$$;

comment on function svc.last_number(regclass) is 'The number that a sequence gave last, without keeping it locked.';
