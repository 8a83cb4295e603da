--! Previous: sha1:82c18714f4354f23b8aa5130cf725abc7223d77a
--! Hash: sha1:065b4e2a2eb39999ea44b4f0cbf758039edce43b

-- A score may cease to be: where a model leaves out the components that are absent, and all of them are.
alter table svc.health_scores alter column overall drop not null;
alter table svc.health_scores alter column band drop not null;
comment on column svc.health_scores.overall is
  'Weighted mean of the components, 0 to 100; null where none of them is known any more, so that there is no score.';
comment on column svc.health_scores.components is 'The score of each component that is known, 0 to 100.';
comment on column svc.health_scores.band is 'The band that the overall score lies in; null where there is none.';
comment on column svc.rule_executions.triggered_by is
  'event:<name>, traits, or what happened: lifecycle.entered:<state>, lifecycle.exited:<state>, journey.started:<id>,
  journey.step_completed:<id>.<step>, journey.completed:<id>, journey.expired:<id>, segment.entered:<id>, segment.exited:<id>,
  health.entered:<band>, health.exited:<band>, signal.raised:<id>, signal.cleared:<id>.';
