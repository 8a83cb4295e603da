--! Previous: sha1:f92ba9ffa2225193c20f72b7c92af1cd3040dcbc
--! Hash: sha1:1ad4b554d812c384833a286c49b458912898f0a7

create table iam.sign_in_links (
  link_hash bytea primary key,
  user_id text not null references iam.users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint sign_in_links_user_id_key unique (user_id)
);
comment on table iam.sign_in_links is
  'Links by which a user signs a browser in, each good once and for five minutes, one a user. Only the SHA-256 of its secret is kept.';
comment on column iam.sign_in_links.link_hash is 'SHA-256 of the secret in the link.';
comment on column iam.sign_in_links.user_id is 'Who is signed in by it.';
comment on column iam.sign_in_links.created_at is 'When it was made.';
comment on column iam.sign_in_links.expires_at is 'When it stops by itself; it is deleted when it is used.';
create index sign_in_links_expires_idx on iam.sign_in_links (expires_at);
