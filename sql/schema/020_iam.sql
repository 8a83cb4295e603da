create table iam.plans (
  plan_id text primary key,
  cloud_execution boolean not null default true,
  rate_per_second integer not null,
  rate_burst integer not null,
  monthly_events bigint,
  retention_days integer,
  superseded_days integer default 90,
  ai boolean not null default true,
  state_bytes integer not null default 1048576,
  projects integer not null default 100,
  members integer not null default 1000,
  tokens integer not null default 200,
  versions integer not null default 10000,
  version_bytes integer not null default 268435456,
  keys integer not null default 100,
  webhooks integer not null default 50,
  recomputes integer not null default 20,
  previews integer not null default 5,
  changes integer not null default 1200,
  constraint plans_rate_positive check (rate_per_second > 0),
  -- A legal batch of 1,000 operations must be able to pass a full bucket.
  constraint plans_burst_holds_a_batch check (rate_burst >= 1000),
  constraint plans_monthly_events_not_negative check (monthly_events >= 0),
  constraint plans_retention_days_range check (retention_days between 1 and 36500),
  constraint plans_superseded_days_range check (superseded_days between 1 and 36500),
  constraint plans_state_bytes_positive check (state_bytes > 0),
  constraint plans_quotas_not_negative check (
    least(projects, members, tokens, versions, version_bytes, keys, webhooks, recomputes, previews, changes) >= 0
  )
);
comment on table iam.plans is 'What an organization may use. Limits are read on every request, so a change is effective at once.';
comment on column iam.plans.plan_id is 'Name of the plan.';
comment on column iam.plans.cloud_execution is 'Whether ingestion is allowed at all; false answers PLAN_REQUIRED.';
comment on column iam.plans.rate_per_second is 'Operations per second and API key that refill the rate bucket.';
comment on column iam.plans.rate_burst is 'Capacity of the rate bucket, in operations.';
comment on column iam.plans.monthly_events is
  'Track operations that an organization may store in a calendar month (UTC), over all its environments; null for no limit.';
comment on column iam.plans.retention_days is
  'How many days of 24 hours operations as accepted are kept; null for ever. What is older is removed within minutes, for good.';
comment on column iam.plans.superseded_days is
  'How many days of 24 hours the history of a customer is kept that a recompute superseded; null for ever.';
comment on column iam.plans.ai is 'Whether commands that ask a language model may be used; false answers PLAN_REQUIRED.';
comment on column iam.plans.state_bytes is
  'What a model may remember for one customer at most, in bytes of JSON without the traits; one that may remember more is not deployed.';
comment on column iam.plans.projects is 'Projects of an organization.';
comment on column iam.plans.members is 'Members and open invitations of an organization together.';
comment on column iam.plans.tokens is 'Headless tokens of an organization that still work.';
comment on column iam.plans.versions is 'Configuration versions of a project.';
comment on column iam.plans.version_bytes is 'Bytes that the configuration versions of a project take in this database together.';
comment on column iam.plans.keys is 'API keys of an environment that still work.';
comment on column iam.plans.webhooks is 'Webhooks of an environment; each emission becomes no more deliveries than that.';
comment on column iam.plans.recomputes is 'Recomputes and dry runs of an environment that are not finished.';
comment on column iam.plans.previews is 'Previews and backtests of an environment that are not finished.';
comment on column iam.plans.changes is 'Changes that one member makes in a minute, by tokens too: entries of the audit log.';

insert into iam.plans (plan_id, cloud_execution, rate_per_second, rate_burst) values ('standard', true, 50000, 100000);

create table iam.organizations (
  organization_id text primary key,
  slug text not null,
  plan_id text not null default 'standard' references iam.plans,
  time_zone text not null default 'UTC',
  created_at timestamptz not null default now(),
  constraint organizations_slug_key unique (slug),
  constraint organizations_slug_form check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);
comment on table iam.organizations is 'A customer of this installation: owns projects, has members and a plan.';
comment on column iam.organizations.organization_id is 'Public id, org_ and random hex; the value of the header X-Svc-Organization.';
comment on column iam.organizations.slug is 'Readable name, unique in the installation.';
comment on column iam.organizations.plan_id is 'The plan whose limits apply.';
comment on column iam.organizations.time_zone is 'In which its days begin and end, where figures are told by day.';
comment on column iam.organizations.created_at is 'When the organization was created.';

create table iam.users (
  user_id text primary key,
  email text not null,
  created_at timestamptz not null default now(),
  email_verified_at timestamptz,
  constraint users_email_key unique (email),
  constraint users_email_lower_case check (email = lower(email) and email like '%_@_%')
);
comment on table iam.users is 'A person who may sign in.';
comment on column iam.users.user_id is 'Public id, usr_ and random hex.';
comment on column iam.users.email is 'Address in lower case, unique in the installation.';
comment on column iam.users.created_at is 'When the user was created.';
comment on column iam.users.email_verified_at is
  'When the password was last set by a link that was mailed to the address, or that the operator made; null where others may know it.';

create table iam.memberships (
  organization_id text not null references iam.organizations,
  user_id text not null references iam.users,
  role text not null,
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id),
  constraint memberships_role_known check (role in ('owner', 'administrator', 'developer', 'viewer'))
);
comment on table iam.memberships is 'Which user belongs to which organization, and as what.';
comment on column iam.memberships.organization_id is 'The organization.';
comment on column iam.memberships.user_id is 'The user.';
comment on column iam.memberships.role is 'owner, administrator, developer or viewer; iam.role_rank orders them.';
comment on column iam.memberships.created_at is 'When the membership began.';
create index memberships_user_idx on iam.memberships (user_id);

create table iam.access_tokens (
  token_hash bytea primary key,
  token_id text not null,
  kind text not null,
  user_id text not null references iam.users,
  organization_id text references iam.organizations,
  role text,
  label text not null,
  client_id text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint access_tokens_token_id_key unique (token_id),
  constraint access_tokens_kind_known check (kind in ('session', 'headless')),
  constraint access_tokens_organization_of_headless check ((kind = 'headless') = (organization_id is not null)),
  constraint access_tokens_role_known check (role in ('owner', 'administrator', 'developer', 'viewer'))
);
comment on table iam.access_tokens is 'Bearer tokens of the administrative API. Only the SHA-256 of a token is kept.';
comment on column iam.access_tokens.token_hash is 'SHA-256 of the token.';
comment on column iam.access_tokens.token_id is 'Public id, tok_ and random hex.';
comment on column iam.access_tokens.kind is
  'session: made by a sign-in of the command line, good for every organization of its user; headless: for programs, good for one.';
comment on column iam.access_tokens.user_id is 'Who acts with the token.';
comment on column iam.access_tokens.organization_id is 'The one organization that a headless token is good for; null for a session.';
comment on column iam.access_tokens.role is 'The most the token may do, where that is less than the role of its user; null for all of it.';
comment on column iam.access_tokens.label is 'What the token is for, in the words of who made it.';
comment on column iam.access_tokens.client_id is 'The OAuth client that a session was granted to; null for a headless token.';
comment on column iam.access_tokens.created_at is 'When the token was made.';
comment on column iam.access_tokens.expires_at is 'When the token stops by itself.';
comment on column iam.access_tokens.revoked_at is 'When the token was revoked; it stops at once.';
comment on column iam.access_tokens.last_used_at is 'When the token was last used, to a few minutes; null for never.';
create index access_tokens_organization_idx on iam.access_tokens (organization_id, created_at, token_id) where organization_id is not null;
-- Counting the tokens that work, however many were revoked.
create index access_tokens_working_idx on iam.access_tokens (organization_id, expires_at)
where organization_id is not null and revoked_at is null;
create index access_tokens_user_idx on iam.access_tokens (user_id);
create index access_tokens_expires_idx on iam.access_tokens (expires_at);

create type iam.actor as (
  user_id text,
  email text,
  role text,
  token_id text,
  organization_id text,
  organization_slug text
);
comment on type iam.actor is 'Who does something in an organization, as iam.authorize found it.';
comment on column iam.actor.user_id is 'The user.';
comment on column iam.actor.email is 'Its address.';
comment on column iam.actor.role is 'What it may do here: its role in the organization, or the lesser one of its token.';
comment on column iam.actor.token_id is 'The token it acts with.';
comment on column iam.actor.organization_id is 'The organization.';
comment on column iam.actor.organization_slug is 'Its readable name.';
