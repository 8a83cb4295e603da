-- Statements that bring a database of the last release to sql/schema; see README.md.

-- A score may cease to be: where a model leaves out the components that are absent, and all of them are.
alter table svc.health_scores alter column overall drop not null;
alter table svc.health_scores alter column band drop not null;
comment on column svc.health_scores.overall is
  'Weighted mean of the components, 0 to 100; null where none of them is known any more, so that there is no score.';
comment on column svc.health_scores.components is 'The score of each component that is known, 0 to 100.';
comment on column svc.health_scores.band is 'The band that the overall score lies in; null where there is none.';
