--! Previous: sha1:54931449f06736e187761001d7698b5054301713
--! Hash: sha1:716af7ab5495aac4acd848c8378f63e270a43719

-- How many signals a recompute raises and clears. Adding the columns rewrites nothing.
alter table svc.recomputes add column if not exists signals_raised integer not null default 0;
alter table svc.recomputes add column if not exists signals_cleared integer not null default 0;
comment on column svc.recomputes.signals_raised is 'Signals that are raised.';
comment on column svc.recomputes.signals_cleared is 'Signals that are cleared.';
comment on column svc.recomputes.failures is 'Failures since it last got further; 0 if it was cancelled.';
