create schema iam;
comment on schema iam is 'Who may do what: users, organizations, memberships and access tokens.';

create schema svc;
comment on schema svc is 'Private tables of the service. Read svc_inspect instead; write through svc_api only.';

create schema svc_api;
comment on schema svc_api is 'The only door: every function the service processes may call.';

create schema svc_inspect;
comment on schema svc_inspect is 'Stable, commented views for people with psql.';
