--! Previous: sha1:e1faada49d2032329578e584843728bbe4c98138
--! Hash: sha1:022e42a460f6f14878f26c2eeebfe3d88ea1bc41

-- Bounds of what nothing removes: audit log and configuration versions.
alter table iam.plans add column if not exists version_bytes integer not null default 268435456;
alter table iam.plans add column if not exists changes integer not null default 1200;
comment on column iam.plans.version_bytes is 'Bytes that the configuration versions of a project take in this database together.';
comment on column iam.plans.changes is 'Changes that one member makes in a minute, by tokens too: entries of the audit log.';
alter table iam.plans drop constraint if exists plans_quotas_not_negative;
alter table iam.plans add constraint plans_quotas_not_negative check (
  least(projects, members, tokens, versions, version_bytes, keys, webhooks, recomputes, previews, changes) >= 0
);

create table if not exists svc.cursor_secret (
  is_only boolean primary key default true,
  secret bytea not null,
  constraint cursor_secret_one_row check (is_only)
);
comment on table svc.cursor_secret is 'What the cursors of lists are sealed by: one row, drawn when the installation was made.';
comment on column svc.cursor_secret.is_only is 'Always true, so that there is one row.';
comment on column svc.cursor_secret.secret is '32 bytes. With another one, the cursors that clients hold are refused.';

insert into svc.cursor_secret (secret)
select sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
on conflict do nothing;

-- The numbers that environments shared until 000003; functions of 000004 had taken them for those of then.
drop sequence if exists svc.batch_seq, svc.evaluation_seq;
