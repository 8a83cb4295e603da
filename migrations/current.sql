-- Statements that bring a database of the last release to sql/schema; see README.md.

-- Also so that no program of before starts beside this one or after it: views have more columns now, which it cannot take back, and its
-- functions do not answer all that processes of this version read.
comment on schema svc_inspect is 'Stable, commented views for people with psql.';
