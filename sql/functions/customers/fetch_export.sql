-- The next items of a list of an export, from a cursor that svc.open_customer_export opened in this transaction, as JSON texts: at most
-- `items`, fewer at the end. With the owner's rights, because on a cluster a cursor only runs when it is first read. It therefore refuses
-- any other cursor of that name: a statement that a caller declared itself would run with these rights, too.
-- Raises 34000 if there is no such cursor. Locks nothing.
create or replace function svc_api.fetch_export(list text, items integer)
returns text[]
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _cursor constant refcursor := 'export_' || fetch_export.list;
  _item text;
  _items text[] := '{}';
begin
  if not exists (
    select
    from pg_cursors as c
    join pg_proc as p on p.oid = 'svc.open_customer_export(integer, text)'::regprocedure
    where c.name = _cursor::text and position(c.statement in p.prosrc) > 0
  ) then
    raise exception using
      errcode = '34000',
      message = format('There is no export with the list %s in this transaction. Call svc_api.open_export before.', fetch_export.list);
  end if;
  while cardinality(_items) < fetch_export.items loop
    fetch _cursor into _item;
    exit when not found;
    _items := array_append(_items, _item);
  end loop;
  return _items;
end;
$$;

comment on function svc_api.fetch_export(text, integer) is 'The next items of a list of an export.';
