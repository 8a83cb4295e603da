import { expect } from "vitest";
import { newCredential } from "../../../../src/http/request/credentials.js";
import type { Actor, Reply, Service } from "../../../support/service.js";
import { waitingForLock } from "../../../support/locks.js";

export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

/** The id of the user with this address. */
export async function userIdOf(service: Service, email: string): Promise<string> {
  const [row] = await service.db.sql<[{ id: string }]>`select user_id as id from iam.users where email = ${email}`;
  return row.id;
}

/** A token as created by a sign-in, valid for every organization of the user. */
export async function sessionOf(service: Service, email: string, organizationId: string): Promise<Actor> {
  const token = newCredential("token");
  await service.db.sql`
    insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, client_id, expires_at)
    select ${token.hash}, svc.random_id('tok_'), 'session', user_id, 'test', 'svc-cli', now() + interval '1 day'
    from iam.users where email = ${email}`;
  return { token: token.text, organizationId };
}

/** Adds a user to an organization. */
export async function join(service: Service, email: string, organizationId: string, role: string): Promise<void> {
  await service.db.sql`
    insert into iam.memberships (organization_id, user_id, role)
    select ${organizationId}, user_id, ${role} from iam.users where email = ${email}`;
}

/** The last entry that `auditOf` returns after an action of an owner. */
export const entryOf = (action: string, target: string, details: object, organization = "acme"): object => {
  return { action, actor: `owner@${organization}.example`, requestId: "req", target, details };
};

/** The audit log of an organization, oldest first, without instants and tokens. */
export async function auditOf(service: Service, organizationId: string): Promise<Record<string, unknown>[]> {
  const rows = await service.db.sql<Record<string, unknown>[]>`
    select action, actor, request_id as "requestId", target, details
    from iam.audit_log where organization_id = ${organizationId} order by audit_seq`;
  return rows.map((row) => ({ ...row }));
}

/** Resolves once this many requests of the service wait for locks. */
export async function waitingRequests({ db: { sql } }: Service, count: number): Promise<void> {
  await expect.poll(() => waitingForLock(sql, "svc test http")).toBe(count);
}

/**
 * Sends requests that all wait for the organization's row before any of them continues, so that they reliably overlap.
 */
export async function atOnce(
  service: Service,
  organizationId: string,
  requests: readonly (() => Promise<Reply>)[],
): Promise<Reply[]> {
  const { sql } = service.db;
  const replies = await sql.begin(async (held) => {
    await held`select from iam.organizations where organization_id = ${organizationId} for update`;
    const sent = requests.map((request) => request());
    await waitingRequests(service, requests.length);
    // Not awaited here: they continue once this transaction has ended.
    return { sent };
  });
  return Promise.all(replies.sent);
}
