--! Previous: sha1:efcfa40f06d89551535d5a4d354a69aa90fa1256
--! Hash: sha1:54931449f06736e187761001d7698b5054301713

-- Since when a recompute had the whole history. Adding the column rewrites nothing.
alter table svc.recomputes add column if not exists exact_from timestamptz;
comment on column svc.recomputes.exact_from is
  'The instant from which all operations were still stored when it began, if retention had removed earlier ones of its customers.';
