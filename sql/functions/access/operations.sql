-- The one table of permissions: for each operation of the administrative API the least role that may perform it in test and in live, and
-- what the organization's plan must include for it. An operation that concerns no environment has the same role twice. Viewers read;
-- developers change test; administrators change live, keys, webhooks and projects; owners decide about people, tokens and deletion.
-- Raises nothing, locks nothing.
create or replace function iam.operations()
returns table (operation text, role_test text, role_live text, entitlement text)
language sql
immutable
parallel safe
set search_path = ''
as $$
  values
    -- Of a token's user, in any organization
    ('list_organizations', 'viewer', 'viewer', null),
    -- The organization
    ('whoami', 'viewer', 'viewer', null),
    ('list_members', 'viewer', 'viewer', null),
    ('update_member', 'owner', 'owner', null),
    ('remove_member', 'owner', 'owner', null),
    ('create_password_reset', 'owner', 'owner', null),
    ('list_invitations', 'owner', 'owner', null),
    ('create_invitation', 'owner', 'owner', null),
    ('revoke_invitation', 'owner', 'owner', null),
    ('list_tokens', 'owner', 'owner', null),
    ('create_token', 'owner', 'owner', null),
    ('revoke_token', 'owner', 'owner', null),
    ('list_audit_log', 'administrator', 'administrator', null),
    ('get_usage', 'viewer', 'viewer', null),
    ('update_organization', 'administrator', 'administrator', null),
    -- Projects and keys. A project comes with a key to its live environment.
    ('list_projects', 'viewer', 'viewer', null),
    ('get_project', 'viewer', 'viewer', null),
    ('create_project', 'administrator', 'administrator', null),
    ('list_keys', 'viewer', 'viewer', null),
    ('create_key', 'administrator', 'administrator', null),
    ('rotate_key', 'administrator', 'administrator', null),
    ('revoke_key', 'administrator', 'administrator', null),
    -- Configuration versions
    ('list_config_versions', 'viewer', 'viewer', null),
    ('get_config_version', 'viewer', 'viewer', null),
    ('diff_config_versions', 'viewer', 'viewer', null),
    ('list_activations', 'viewer', 'viewer', null),
    ('check_config', 'developer', 'administrator', 'cloud_execution'),
    ('deploy_config', 'developer', 'administrator', 'cloud_execution'),
    ('promote_config', 'administrator', 'administrator', 'cloud_execution'),
    ('rollback_config', 'administrator', 'administrator', 'cloud_execution'),
    -- Derived data
    ('get_overview', 'viewer', 'viewer', null),
    ('get_population', 'viewer', 'viewer', null),
    ('get_trends', 'viewer', 'viewer', null),
    ('get_diagnostics', 'viewer', 'viewer', null),
    ('list_schema_violations', 'viewer', 'viewer', null),
    ('list_quarantined', 'viewer', 'viewer', null),
    ('release_quarantined', 'developer', 'administrator', 'cloud_execution'),
    ('discard_quarantined', 'developer', 'administrator', 'cloud_execution'),
    ('list_events', 'viewer', 'viewer', null),
    ('get_event', 'viewer', 'viewer', null),
    ('stream_events', 'viewer', 'viewer', null),
    ('search_customers', 'viewer', 'viewer', null),
    ('get_customer', 'viewer', 'viewer', null),
    ('list_emissions', 'viewer', 'viewer', null),
    ('customer_backlog', 'viewer', 'viewer', null),
    ('list_history', 'viewer', 'viewer', null),
    ('list_traits', 'viewer', 'viewer', null),
    ('list_due_customers', 'viewer', 'viewer', null),
    ('get_journey', 'viewer', 'viewer', null),
    ('explain_health', 'viewer', 'viewer', null),
    ('explain_customer', 'viewer', 'viewer', null),
    ('get_segment', 'viewer', 'viewer', null),
    ('list_members_at', 'viewer', 'viewer', null),
    ('search_emissions', 'viewer', 'viewer', null),
    ('search_signals', 'viewer', 'viewer', null),
    ('get_journeys', 'viewer', 'viewer', null),
    ('get_journey_funnel', 'viewer', 'viewer', null),
    ('get_journey_times', 'viewer', 'viewer', null),
    ('search_journey_runs', 'viewer', 'viewer', null),
    ('search_rule_executions', 'viewer', 'viewer', null),
    ('search_transitions', 'viewer', 'viewer', null),
    ('get_transition_times', 'viewer', 'viewer', null),
    ('count_rule_executions', 'viewer', 'viewer', null),
    ('list_transitions', 'viewer', 'viewer', null),
    ('list_health_scores', 'viewer', 'viewer', null),
    ('export_customer', 'viewer', 'viewer', null),
    ('erase_customer', 'owner', 'owner', null),
    ('release_customers', 'developer', 'administrator', 'cloud_execution'),
    -- Its questions leave the service, and its answers cost money.
    ('ask_language_model', 'developer', 'developer', 'ai'),
    -- Recomputes, dry runs, previews and backtests. The last three change nothing, but cost as much computing time as the first.
    ('list_recomputes', 'viewer', 'viewer', null),
    ('get_recompute', 'viewer', 'viewer', null),
    ('list_recompute_customers', 'viewer', 'viewer', null),
    ('get_preview', 'viewer', 'viewer', null),
    ('list_preview_customers', 'viewer', 'viewer', null),
    ('list_backtests', 'viewer', 'viewer', null),
    ('get_backtest', 'viewer', 'viewer', null),
    ('list_backtest_samples', 'viewer', 'viewer', null),
    ('create_recompute', 'developer', 'administrator', 'cloud_execution'),
    ('retry_recompute', 'developer', 'administrator', 'cloud_execution'),
    ('cancel_recompute', 'developer', 'administrator', null),
    ('create_preview', 'developer', 'administrator', 'cloud_execution'),
    ('create_backtest', 'developer', 'administrator', 'cloud_execution'),
    -- Webhooks
    ('list_webhooks', 'viewer', 'viewer', null),
    ('get_webhook', 'viewer', 'viewer', null),
    ('list_deliveries', 'viewer', 'viewer', null),
    ('get_delivery', 'viewer', 'viewer', null),
    ('get_emission', 'viewer', 'viewer', null),
    ('create_webhook', 'administrator', 'administrator', 'cloud_execution'),
    ('update_webhook', 'administrator', 'administrator', 'cloud_execution'),
    ('delete_webhook', 'administrator', 'administrator', null),
    ('rotate_webhook_secret', 'administrator', 'administrator', 'cloud_execution'),
    ('test_webhook', 'developer', 'administrator', 'cloud_execution'),
    ('resend_delivery', 'developer', 'administrator', 'cloud_execution'),
    ('resend_deliveries', 'developer', 'administrator', 'cloud_execution')
$$;

comment on function iam.operations() is 'Permissions: operation, least role in test and in live, what the plan must include.';
