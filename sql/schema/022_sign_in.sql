create table iam.identities (
  provider text not null,
  subject text not null,
  user_id text not null references iam.users,
  password_hash text,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (provider, subject),
  constraint identities_password_hash_of_password check ((provider = 'password') = (password_hash is not null))
);
comment on table iam.identities is
  'How a user proves to be who it is. Apart from the user, so that a password and single sign-on can stand side by side.';
comment on column iam.identities.provider is 'password, or who vouches for the user: the issuer of a single sign-on.';
comment on column iam.identities.subject is 'The user''s id with the provider; for a password the user_id.';
comment on column iam.identities.user_id is 'The user.';
comment on column iam.identities.password_hash is 'argon2id in PHC form; null for every other provider.';
comment on column iam.identities.created_at is 'When the identity was added.';
comment on column iam.identities.changed_at is 'When the password was last set.';
create index identities_user_idx on iam.identities (user_id);

create table iam.sessions (
  session_hash bytea primary key,
  user_id text not null references iam.users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
comment on table iam.sessions is 'Browsers that are signed in. Only the SHA-256 of a session''s cookie is kept.';
comment on column iam.sessions.session_hash is 'SHA-256 of the cookie.';
comment on column iam.sessions.user_id is 'Who is signed in.';
comment on column iam.sessions.created_at is 'When the user signed in.';
comment on column iam.sessions.expires_at is 'When the session ends by itself.';
create index sessions_user_idx on iam.sessions (user_id);
create index sessions_expires_idx on iam.sessions (expires_at);

create table iam.invitations (
  organization_id text not null references iam.organizations,
  invitation_id text not null,
  link_hash bytea not null,
  mailed_hash bytea,
  email text not null,
  role text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  primary key (organization_id, invitation_id),
  constraint invitations_link_hash_key unique (link_hash),
  constraint invitations_mailed_hash_key unique (mailed_hash),
  constraint invitations_email_lower_case check (email = lower(email) and email like '%_@_%'),
  constraint invitations_role_known check (role in ('owner', 'administrator', 'developer', 'viewer')),
  constraint invitations_ended_once check (accepted_at is null or revoked_at is null)
);
comment on table iam.invitations is
  'Invitations to organizations, each by a link that is good once. Only the SHA-256 of the link''s secret is kept.';
comment on column iam.invitations.organization_id is 'The organization.';
comment on column iam.invitations.invitation_id is 'Public id, inv_ and random hex.';
comment on column iam.invitations.link_hash is 'SHA-256 of the secret in the link.';
comment on column iam.invitations.mailed_hash is
  'SHA-256 of the secret in the link that was mailed, which who invited never saw; null where none was.';
comment on column iam.invitations.email is 'Who is invited, in lower case; nobody else can accept.';
comment on column iam.invitations.role is 'The role that the new member gets.';
comment on column iam.invitations.created_by is 'E-mail address of who invited.';
comment on column iam.invitations.created_at is 'When the invitation was made.';
comment on column iam.invitations.expires_at is 'When the link stops by itself.';
comment on column iam.invitations.accepted_at is 'When it was accepted; the link is used up.';
comment on column iam.invitations.revoked_at is 'When it was revoked or replaced; the link stopped at once.';
-- One open invitation an address: a new one revokes the one before.
create unique index invitations_open_key on iam.invitations (organization_id, email) where accepted_at is null and revoked_at is null;

create table iam.password_links (
  link_hash bytea primary key,
  user_id text not null references iam.users,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  mailed_hash bytea,
  constraint password_links_mailed_hash_key unique (mailed_hash)
);
comment on table iam.password_links is
  'Links by which a user sets a password, each good once. Only the SHA-256 of the link''s secret is kept.';
comment on column iam.password_links.link_hash is 'SHA-256 of the secret in the link.';
comment on column iam.password_links.mailed_hash is
  'SHA-256 of the secret in the link that was mailed, which who made it never saw; null where none was.';
comment on column iam.password_links.user_id is 'Whose password it sets.';
comment on column iam.password_links.created_by is 'E-mail address of who made it, or operator.';
comment on column iam.password_links.created_at is 'When it was made.';
comment on column iam.password_links.expires_at is 'When it stops by itself.';
comment on column iam.password_links.used_at is 'When it was used or replaced by a newer one; it is good no more.';
create index password_links_user_idx on iam.password_links (user_id) where used_at is null;

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

create table iam.throttles (
  bucket bytea primary key,
  full_at timestamptz not null
);
comment on table iam.throttles is
  'How many attempts are left to guess something: token buckets, of a sign-in for example one for each address and e-mail together.';
comment on column iam.throttles.bucket is 'SHA-256 of what is counted; neither addresses nor e-mail addresses can be read from it.';
comment on column iam.throttles.full_at is
  'When all attempts will have come back; how far that lies ahead says how many were made.';
create index throttles_full_idx on iam.throttles (full_at);

create table iam.device_authorizations (
  device_code_hash bytea primary key,
  user_code text not null,
  client_id text not null,
  address text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  interval_seconds integer not null,
  last_polled_at timestamptz,
  status text not null default 'pending',
  user_id text references iam.users,
  decided_at timestamptz,
  constraint device_authorizations_user_code_key unique (user_code),
  constraint device_authorizations_status_known check (status in ('pending', 'approved', 'denied', 'redeemed')),
  constraint device_authorizations_decided_by_user check (
    (status = 'pending') = (user_id is null) and (user_id is null) = (decided_at is null)
  )
);
comment on table iam.device_authorizations is
  'Devices that ask to be signed in (RFC 8628): from the request until a user decides and the device fetches its token.';
comment on column iam.device_authorizations.device_code_hash is 'SHA-256 of the code that the device polls with.';
comment on column iam.device_authorizations.user_code is 'What the user types or confirms, 8 letters; worth nothing without a session.';
comment on column iam.device_authorizations.client_id is 'The program that asks.';
comment on column iam.device_authorizations.address is 'From which network address it asked; shown to the user who decides.';
comment on column iam.device_authorizations.created_at is 'When it asked.';
comment on column iam.device_authorizations.expires_at is 'When the codes stop by themselves.';
comment on column iam.device_authorizations.interval_seconds is
  'How long the device has to wait between two polls; longer each time it does not.';
comment on column iam.device_authorizations.last_polled_at is 'When it polled last.';
comment on column iam.device_authorizations.status is 'pending, approved or denied by the user, redeemed once the token was fetched.';
comment on column iam.device_authorizations.user_id is 'Who decided, and whose token it is.';
comment on column iam.device_authorizations.decided_at is 'When it was decided.';
create index device_authorizations_expires_idx on iam.device_authorizations (expires_at);
