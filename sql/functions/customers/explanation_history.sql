-- Pages of one customer's evaluated events, as requested by the engine to explain its state: svc_api.load_history_pages for this customer
-- only. A request is {event, after: {occurredAt, seq}, until: {occurredAt, seq} or null}; at most 100 requests with 20,000 events a page.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.explanation_history(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, explained text, requests json,
  page_size integer
)
returns table (request integer, events json, complete boolean)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'explain_' || explained
  );
begin
  return query
  select p.request, p.events, p.complete
  from svc_api.load_history_pages(
    _environment.environment_id,
    (
      select json_agg(
        json_build_object(
          'customerId', explanation_history.customer_id, 'event', r.item -> 'event', 'after', r.item -> 'after', 'until', r.item -> 'until'
        )
        order by r.n
      )
      from json_array_elements(explanation_history.requests) with ordinality as r (item, n)
      where r.n <= 100
    ),
    least(explanation_history.page_size, 20000)
  ) as p;
end;
$$;

comment on function svc_api.explanation_history(bytea, text, text, text, text, text, json, integer) is
  'Pages of a customer''s evaluated events, for an explanation.';
