-- Distributes the tables, where the database is one of Citus and is there for a trial.

-- Up Migration

do $$
declare
  _refusal text;
begin
  _refusal := svc_citus.refusal(
    exists (select from pg_catalog.pg_available_extensions where name = 'citus'),
    exists (select from pg_catalog.pg_extension where extname = 'citus'),
    -- The view has no row of it for who may not see it.
    (select s.setting from pg_catalog.pg_settings as s where s.name = 'shared_preload_libraries'),
    current_setting('svc.citus_trial', true)
  );
  if _refusal is not null then
    raise exception using errcode = '55000', message = _refusal;
  end if;
  perform svc_citus.distribute();
end
$$;

-- Down Migration

select svc_citus.gather();
