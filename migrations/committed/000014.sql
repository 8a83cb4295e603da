--! Previous: sha1:bb78424d3bf85faabfa2ac4c3bc474a9de528ff2
--! Hash: sha1:b32b7986f39e71fba3ca6e9a28ccc3daadb1837a

-- Also so that no program of before, which does not read states as they are stored from now on, starts beside this one or after it.
comment on column svc.customers.state is
  'The engine''s working state, without what has a column, and in lists what has a fixed shape. Not an interface.';
