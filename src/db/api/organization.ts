import type { Sql } from "postgres";
import type { AdminCredentials, Page } from "./access.js";
import { scalar, type Rows } from "./scalar.js";

/** The calls that administer an organization: its people, invitations, headless tokens and audit log. As in access.ts. */

export const ROLES = ["owner", "administrator", "developer", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** The longest that a headless token lives, and how long it does unless told otherwise. */
export const TOKEN_EXPIRES_IN_DAYS_MAX = 90;

/** The organizations that a token is good for, by slug. */
export function listOrganizations(sql: Sql, tokenHash: Buffer, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_organizations(${tokenHash}, ${page.limit}, ${page.cursor ?? null})::text as answer`);
}

export function listMembers(sql: Sql, by: AdminCredentials, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_members(${by.tokenHash}, ${by.organizationId}, ${page.limit}, ${page.cursor ?? null})::text as answer`);
}

/** Gives a member another role; answers the member. */
export function updateMember(sql: Sql, by: AdminCredentials, userId: string, role: Role): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.update_member(${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${userId}, ${role})::text as answer`);
}

/** Ends a membership; answers the member as it was. */
export function removeMember(sql: Sql, by: AdminCredentials, userId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.remove_member(${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${userId})::text as answer`);
}

export function listInvitations(sql: Sql, by: AdminCredentials, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_invitations(
      ${by.tokenHash}, ${by.organizationId}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

/** Answers `{invitation, organization}`, the latter the slug. */
export function createInvitation(
  sql: Sql,
  by: AdminCredentials,
  invitation: { email: string; role: Role; linkHash: Buffer },
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.create_invitation(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${invitation.email}, ${invitation.role}, ${invitation.linkHash}
    )::text as answer`);
}

/** Answers the invitation as it was. */
export function revokeInvitation(sql: Sql, by: AdminCredentials, invitationId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.revoke_invitation(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${invitationId}
    )::text as answer`);
}

/** Answers `{email, expiresAt}`. */
export function createPasswordReset(sql: Sql, by: AdminCredentials, userId: string, linkHash: Buffer): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.create_password_reset(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${userId}, ${linkHash}
    )::text as answer`);
}

/** Gives an invitation or a password link a second secret, for the mail alone. */
export async function mailLink(sql: Sql, linkHash: Buffer, mailedHash: Buffer): Promise<void> {
  await sql`select svc_api.mail_link(${linkHash}, ${mailedHash})`;
}

export function listTokens(sql: Sql, by: AdminCredentials, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_tokens(${by.tokenHash}, ${by.organizationId}, ${page.limit}, ${page.cursor ?? null})::text as answer`);
}

export interface NewToken {
  label: string;
  /** The most it may do; null: all that its user may. */
  role: Role | null;
  expiresInDays: number;
  /** SHA-256 of the token. */
  hash: Buffer;
}

export function createToken(sql: Sql, by: AdminCredentials, token: NewToken): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.create_token(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${token.label}, ${token.role}, ${token.expiresInDays}, ${token.hash}
    )::text as answer`);
}

/** Answers the token as it is now. */
export function revokeToken(sql: Sql, by: AdminCredentials, tokenId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.revoke_token(${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${tokenId})::text as answer`);
}

/** Notes that a token was used; of any other text, nothing. */
export async function touchToken(sql: Sql, tokenHash: Buffer): Promise<void> {
  await sql`select svc_api.touch_token(${tokenHash})`;
}

export interface AuditFilters {
  action?: string | undefined;
  /** E-mail address of who did it, or operator. */
  actor?: string | undefined;
  since?: Date | undefined;
}

export function listAuditLog(sql: Sql, by: AdminCredentials, filters: AuditFilters, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_audit_log(
      ${by.tokenHash}, ${by.organizationId}, ${filters.action ?? null}, ${filters.actor ?? null}, ${filters.since ?? null},
      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
