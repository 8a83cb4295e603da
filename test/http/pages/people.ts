import { randomBytes } from "node:crypto";
import { hash } from "@node-rs/argon2";
import type { Sql } from "postgres";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { Browser, formOf } from "../../support/browser.js";
import type { Service } from "../../support/service.js";

export const PASSWORD = "correct horse battery";

/** Creates a user, without a password if it is null. */
export async function createUser(sql: Sql, email: string, password: string | null = PASSWORD): Promise<string> {
  const [user] = await sql<[{ id: string }]>`
    insert into iam.users (user_id, email) values (svc.random_id('usr_'), ${email}) returning user_id as id`;
  if (password !== null) {
    await sql`
      insert into iam.identities (provider, subject, user_id, password_hash)
      values ('password', ${user.id}, ${user.id}, ${await hash(password)})`;
  }
  return user.id;
}

/** A browser in which the user has signed in with PASSWORD. */
export async function signedIn({ url }: Pick<Service, "url">, email: string): Promise<Browser> {
  const browser = new Browser(url);
  const answer = await browser.submit(await browser.get("/login"), { email, password: PASSWORD });
  if (answer.status !== 303) throw new Error(`the sign-in was answered ${answer.status}: ${answer.html}`);
  return browser;
}

/** The user that the page shows as signed in; null if none. */
export async function whoIs(browser: Browser): Promise<string | null> {
  const { html } = await browser.get("/device");
  return /You are signed in as (\S+)\. To decide as another user/.exec(html)?.[1] ?? null;
}

/** The form token of a signed-in browser. */
export async function formToken(browser: Browser): Promise<string> {
  return formOf((await browser.get("/device")).html, "device").hidden["form_token"]!;
}

/** Creates an organization, and returns its id. */
export async function createOrganization(sql: Sql, slug: string): Promise<string> {
  const [organization] = await sql<[{ id: string }]>`
    insert into iam.organizations (organization_id, slug) values (svc.random_id('org_'), ${slug}) returning organization_id as id`;
  return organization.id;
}

/** Creates an invitation, and returns the secret of its link. */
export async function invite(
  sql: Sql,
  invitation: { organizationId: string; email: string; role?: string; invitedBy?: string },
): Promise<string> {
  const { organizationId, email, role = "developer", invitedBy = "owner@acme.example" } = invitation;
  const token = `svc_link_${randomBytes(24).toString("hex")}`;
  await sql`
    insert into iam.invitations (organization_id, invitation_id, link_hash, email, role, created_by, expires_at)
    values (
      ${organizationId}, svc.random_id('inv_'), ${hashCredential(token)}, ${email}, ${role}, ${invitedBy},
      now() + interval '1 hour'
    )`;
  return token;
}

/** Creates a link that sets a user's password, and returns its secret. */
export async function passwordLink(sql: Sql, userId: string, seconds = 3_600): Promise<string> {
  const token = `svc_link_${randomBytes(24).toString("hex")}`;
  await sql`
    insert into iam.password_links (link_hash, user_id, created_by, expires_at)
    values (${hashCredential(token)}, ${userId}, 'operator', now() + ${seconds} * interval '1 second')`;
  return token;
}
