-- Checks that the active version declares the name in a filter, so that a misspelt name does not give an empty list. Called if nothing was
-- found: customers may still be in a part that a former version declared. Null names are not checked, and nothing is before the
-- first version.
-- Raises SV006 VALIDATION_ERROR with the declared names. Locks nothing.
create or replace function svc.require_part(project_id integer, active_version integer, kind text, field text, name text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  _names text[];
begin
  if require_part.name is null or require_part.active_version is null then
    return;
  end if;
  _names := svc.part_names(require_part.project_id, require_part.active_version, require_part.kind);
  if require_part.name <> all(_names) then
    perform svc.raise_undeclared(
      require_part.field, require_part.name, format('The active version has no %s of this name.', require_part.kind), _names
    );
  end if;
end;
$$;

comment on function svc.require_part(integer, integer, text, text, text) is
  'Raises VALIDATION_ERROR if the active version does not declare the name in a filter.';
