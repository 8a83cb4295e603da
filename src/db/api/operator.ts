import type { Sql } from "postgres";
import { scalar, type Rows } from "./scalar.js";
import type { NewToken } from "./organization.js";

/** The calls of the operator, who has the database itself: they need the migrating user, not one of the service's roles. */

/** Answers an array of users. */
export function operatorListUsers(sql: Sql): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_list_users()::text as answer`);
}

/** A link by which any user sets a password: `{email, expiresAt}`. */
export function operatorCreatePasswordLink(sql: Sql, email: string, linkHash: Buffer): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_create_password_link(${email}, ${linkHash})::text as answer`);
}

/** Ends the password of a user and all that is signed in as it, where there is one. */
export async function operatorResetUser(sql: Sql, email: string): Promise<void> {
  await sql`select svc_api.operator_reset_user(${email})`;
}

/** Answers an array of headless tokens. */
export function operatorListTokens(sql: Sql, organizationSlug: string): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_list_tokens(${organizationSlug})::text as answer`);
}

/** A token that acts as the member of that address, null for the oldest owner: `{organizationId, token}`. */
export function operatorCreateToken(
  sql: Sql,
  organizationSlug: string,
  email: string | null,
  token: NewToken,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.operator_create_token(
      ${organizationSlug}, ${email}, ${token.label}, ${token.role}, ${token.expiresInDays}, ${token.hash}
    )::text as answer`);
}

/** Answers the token as it is now. */
export function operatorRevokeToken(sql: Sql, tokenId: string): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_revoke_token(${tokenId})::text as answer`);
}

/** What contradicts an invariant, in one environment; without names where it concerns none. */
export interface InvariantViolation {
  invariant: string;
  /** What must hold, in a sentence. */
  holds: string;
  organization: string | null;
  project: string | null;
  environment: string | null;
  violations: number;
  /** Five at most. */
  examples: string[];
  /** What to do. */
  advice: string;
}

/** Whether all is well, as of one instant. */
export interface Examination {
  /** How many invariants were looked at. */
  checks: number;
  violations: InvariantViolation[];
  /** The last migration; null where there is none. */
  migration: string | null;
  workersAlive: number;
  pendingOperations: number;
  /** When the oldest operation that waits for a worker was accepted, ISO 8601; null where none waits. */
  pendingSince: string | null;
  setAsideCustomers: number;
  disabledWebhooks: number;
  failingWebhooks: number;
}

/** Reads everything. */
export async function operatorExamine(sql: Sql): Promise<Examination> {
  return JSON.parse(await scalar(sql<Rows>`select svc_api.operator_examine()::text as answer`)) as Examination;
}

/** The limits of a plan by the names of its document; null for none. */
export interface PlanLimits {
  ratePerSecond: number;
  rateBurst: number;
  monthlyEvents: number | null;
  retentionDays: number | null;
  cloudExecution: boolean;
  ai: boolean;
  stateBytes: number;
  projects: number;
  members: number;
  tokens: number;
  versions: number;
  keys: number;
  webhooks: number;
  recomputes: number;
  previews: number;
}

/** Answers an array of plans. */
export function operatorListPlans(sql: Sql): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_list_plans()::text as answer`);
}

/** Answers the plan with its organizations. */
export function operatorGetPlan(sql: Sql, plan: string): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_get_plan(${plan})::text as answer`);
}

/** Changes limits of a plan, or makes one: `{plan, changes}`. */
export function operatorSetPlan(sql: Sql, plan: string, changes: Partial<PlanLimits>): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.operator_set_plan(${plan}, ${JSON.stringify(changes)}::text::jsonb)::text as answer`);
}

/** Gives an organization a plan: `{organizationId, slug, plan, previousPlan}`. */
export function operatorAssignPlan(sql: Sql, organizationSlug: string, plan: string): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_assign_plan(${organizationSlug}, ${plan})::text as answer`);
}

/** Answers the plan as it was. */
export function operatorRemovePlan(sql: Sql, plan: string): Promise<string> {
  return scalar(sql<Rows>`select svc_api.operator_remove_plan(${plan})::text as answer`);
}

/**
 * Makes sure that an organization and its owner exist and adds an access token: `{organizationId}`. Needs the migrating user, not
 * the service's role.
 */
export function bootstrap(sql: Sql, organizationSlug: string, email: string, tokenHash: Buffer): Promise<string> {
  return scalar(sql<Rows>`select svc_api.bootstrap(${organizationSlug}, ${email}, ${tokenHash})::text as answer`);
}
