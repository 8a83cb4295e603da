import Type, { type Static } from "typebox";
import { TOKEN_EXPIRES_IN_DAYS_MAX } from "../../db/api/access.js";
import { call } from "../../db/api/call.js";
import type { Mail } from "../../mail/mailer.js";
import { invitationMail, passwordMail } from "../../mail/messages.js";
import { invitationLink, newCredential, type NewCredential, passwordLink } from "../request/credentials.js";
import { knownTimeZone } from "../request/instants.js";
import { displayName, emailAddress, emptyObject, KIB, pageQuery, sinceFilter } from "./parameters.js";
import { type AdminDeps, adminRoute } from "./route.js";
import { count, countOf, exact, instant, listOf, named, orNull, role } from "./schemas.js";

const timeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: "^[A-Za-z0-9+_/-]+$",
  description: "must be a name of the IANA time zone database, for example Europe/Berlin",
  examples: ["Europe/Berlin"],
});

export const organization = named("Organization", "An organization, and the token's role in it.", {
  id: Type.String(),
  slug: Type.String(),
  role,
});

export const changedOrganization = exact({ id: Type.String(), slug: Type.String(), timeZone });

export const actor = named("Actor", {
  user: exact({ email: Type.String() }),
  organization: exact({ id: Type.String(), slug: Type.String(), role }),
});

export const member = named("Member", "A user of the organization.", {
  userId: Type.String(),
  email: emailAddress,
  role,
  createdAt: instant,
});

const tokenMembers = {
  id: Type.String(),
  label: Type.String(),
  /** The highest role of the token; null for that of its user. */
  role: orNull(role),
  user: exact({ id: Type.String(), email: Type.String() }),
  createdAt: instant,
  expiresAt: instant,
  lastUsedAt: orNull(instant),
  revokedAt: orNull(instant),
};
export const token = named("AccessToken", "A headless token, without its secret text.", tokenMembers);
export const createdToken = named("CreatedAccessToken", { ...tokenMembers, accessToken: Type.String() });
const newToken = exact({
  label: displayName,
  role: Type.Optional(role),
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: TOKEN_EXPIRES_IN_DAYS_MAX })),
});

const filter = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));
const text = orNull(Type.String());
export const auditEntry = named("AuditEntry", "A recorded change.", {
  at: instant,
  action: Type.String(),
  actor: Type.String({
    description: "E-mail address of the user who did it, `operator`, or `svc` for the service itself.",
  }),
  actorUserId: text,
  tokenId: text,
  requestId: text,
  project: text,
  environment: text,
  target: text,
  details: Type.Object({}, { additionalProperties: true, description: "Details, which depend on the action." }),
});

export const usage = named("Usage", "The organization's use of its plan.", {
  plan: Type.String({ examples: ["standard"] }),
  month: Type.String({ description: "The calendar month (UTC) that `monthlyEvents` counts.", examples: ["2026-03"] }),
  resetsAt: instant,
  used: exact({
    monthlyEvents: countOf("Stored events of all projects; repetitions are not counted."),
    projects: count,
    members: countOf("Members and open invitations."),
    tokens: countOf("Valid access tokens."),
  }),
  limits: exact({
    cloudExecution: Type.Boolean({ description: "Whether events are accepted at all." }),
    ai: Type.Boolean({ description: "Whether the language model may be used." }),
    ratePerSecond: countOf("Operations per second of an API key."),
    rateBurst: countOf("Operations that an API key may send at once."),
    monthlyEvents: orNull(count, "Events stored per month; null without a limit."),
    retentionDays: orNull(count, "Days for which events are kept; null means forever."),
    supersededDays: orNull(count, "Days for which histories that a recompute replaced are kept; null means forever."),
    stateBytes: countOf("Bytes of state that a model may keep for one customer."),
    projects: count,
    members: count,
    tokens: count,
    versions: countOf("Configuration versions of a project."),
    versionBytes: countOf("Total size of these versions in bytes."),
    keys: countOf("Valid API keys of an environment."),
    webhooks: countOf("Webhooks of an environment."),
    recomputes: countOf("Recomputes and dry runs of an environment that are not finished."),
    previews: countOf("Previews and backtests of an environment that are not finished."),
    changes: countOf("Changes per minute of a member."),
  }),
});

/** The signed-in user, the organization and its members. */
export const organizationRoutes = [
  adminRoute("whoami", "GET /whoami", { summary: "Get the token's user and organization", answers: { 200: actor } }),
  // All organizations of the token's user, or the one of a headless token.
  adminRoute("list_organizations", "GET /organizations", {
    organization: false,
    summary: "List the organizations that the token is valid for, by slug",
    query: pageQuery,
    answers: { 200: listOf(organization) },
    answer: ({ deps, credentials, query }) => call(deps.sql, "list_organizations", credentials.tokenHash, query),
  }),
  adminRoute("update_organization", "PATCH /organization", {
    summary: "Change the time zone of the organization",
    body: { schema: exact({ timeZone }), bytesMax: KIB },
    answers: { 200: changedOrganization },
    // Pages show instants by Node.js' table of time zones; the database checks its own table.
    passes: ({ body }) => [knownTimeZone(body.timeZone)],
  }),
  adminRoute("list_members", "GET /organization/members", {
    summary: "List the members of the organization by e-mail address",
    query: pageQuery,
    answers: { 200: listOf(member) },
  }),
  adminRoute("update_member", "PATCH /organization/members/:userId", {
    summary: "Change the role of a member",
    body: { schema: exact({ role }), bytesMax: KIB },
    answers: { 200: member },
    refusals: { 409: ["LAST_OWNER"] },
    passes: ({ params, body }) => [params["userId"]!, body.role],
  }),
  // The last owner cannot be removed. Returns the former member.
  adminRoute("remove_member", "DELETE /organization/members/:userId", {
    summary: "End a membership, and revoke the user's headless tokens for the organization",
    answers: { 200: member },
    refusals: { 409: ["LAST_OWNER"] },
  }),
];

/** The headless tokens of the organization, including invalid ones, its audit log and its usage. */
export const tokenRoutes = [
  adminRoute("list_tokens", "GET /organization/tokens", {
    summary: "List the headless tokens of the organization, the newest first",
    query: pageQuery,
    answers: { 200: listOf(token) },
  }),
  // The token acts as the user who creates it. Only this answer contains it.
  adminRoute("create_token", "POST /organization/tokens", {
    summary: "Create a headless token that acts as you in this organization, with your role or a lesser one",
    body: { schema: newToken, bytesMax: 4 * KIB },
    answers: { 201: createdToken },
    answer: async ({ call, body: { label, role, expiresInDays = TOKEN_EXPIRES_IN_DAYS_MAX } }) => {
      const accessToken = newCredential("token");
      const document = await call("create_token", label, role, expiresInDays, accessToken.hash);
      const created = JSON.parse(document) as Static<typeof token>;
      return { ...created, accessToken: accessToken.text };
    },
  }),
  // Idempotent.
  adminRoute("revoke_token", "DELETE /organization/tokens/:tokenId", {
    summary: "Revoke a headless token, which stops working at once",
    answers: { 200: token },
  }),
  // `action=member.removed`, `actor=ada@example.com`, `since=7d` or a date.
  adminRoute("list_audit_log", "GET /organization/audit-log", {
    summary: "List the changes that were made in the organization, the newest first",
    query: exact({ ...pageQuery.properties, action: filter, actor: filter, since: filter }),
    answers: { 200: listOf(auditEntry) },
    passes: ({ query }) => [query.action, query.actor, sinceFilter(query.since), query],
  }),
  adminRoute("get_usage", "GET /organization/usage", {
    summary: "Get the organization's use of its plan, and the plan's limits",
    answers: { 200: usage },
  }),
];

interface CreatedLink {
  requestId: string;
  secret: NewCredential;
  /** Not if many links were mailed to the address, or by the organization. */
  mayMail: boolean;
}

/**
 * Mails a link if mail is set up and it may be mailed, and returns whether the mail server accepted it. The mail contains a secret of its own, which
 * the user who created the link does not see, so that only its use verifies the address.
 *
 * @param mailOf makes the mail with its own secret
 */
async function sendLink(
  deps: AdminDeps,
  { requestId, secret, mayMail }: CreatedLink,
  mailOf: (mailed: NewCredential) => Mail,
): Promise<{ mailed: boolean; mailFailed: boolean }> {
  if (deps.mailer === null || !mayMail) return { mailed: false, mailFailed: false };
  const mailed = newCredential("link");
  await call(deps.sql, "mail_link", secret.hash, mailed.hash);
  const isAccepted = await deps.mailer.send(mailOf(mailed), requestId);
  return { mailed: isAccepted, mailFailed: !isAccepted };
}

const mail = {
  mailed: Type.Boolean({ description: "Whether the mail server accepted the link; also false if no mail is set up." }),
  mailFailed: Type.Boolean({ description: "Whether mail is set up, but the mail server did not accept the link." }),
};

export const passwordReset = named("PasswordReset", { link: Type.String(), expiresAt: instant, ...mail });
const members = {
  id: Type.String(),
  email: emailAddress,
  role,
  createdBy: Type.String(),
  createdAt: instant,
  expiresAt: instant,
};
export const invitation = named("Invitation", "An invitation, without its link.", members);
export const createdInvitation = named("CreatedInvitation", { ...members, link: Type.String(), ...mail });

/** Links by which people join the organization, and members set passwords. */
export const invitationRoutes = [
  // Only this answer contains the link; a mail, if it is set up, contains another one.
  adminRoute("create_password_reset", "POST /organization/members/:userId/password-reset", {
    summary: "Create a link by which a member sets a password, valid for 24 hours; it replaces an earlier one",
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 201: passwordReset },
    answer: async ({ deps, credentials, call, params }) => {
      const secret = newCredential("link");
      const document = await call("create_password_reset", params["userId"]!, secret.hash);
      const made = JSON.parse(document) as { email: string; expiresAt: string; mayMail: boolean };
      const { email: to, expiresAt, mayMail } = made;
      const sent = await sendLink(deps, { requestId: credentials.requestId, secret, mayMail }, (mailed) =>
        passwordMail({ to, link: passwordLink(deps.publicUrl(), mailed), expiresAt }, "owner"),
      );
      return { link: passwordLink(deps.publicUrl(), secret), expiresAt, ...sent };
    },
  }),
  adminRoute("list_invitations", "GET /organization/invitations", {
    summary: "List the open invitations of the organization by e-mail address",
    query: pageQuery,
    answers: { 200: listOf(invitation) },
  }),
  // Only this answer contains the link; a mail, if it is set up, contains another one to the same invitation.
  adminRoute("create_invitation", "POST /organization/invitations", {
    summary: "Invite an e-mail address by a link that is valid for 7 days; it replaces an open invitation",
    body: { schema: exact({ email: emailAddress, role }), bytesMax: 4 * KIB },
    answers: { 201: createdInvitation },
    refusals: { 409: ["ALREADY_MEMBER"] },
    answer: async ({ deps, credentials, call, body }) => {
      const secret = newCredential("link");
      const document = await call("create_invitation", body.email, body.role, secret.hash);
      const { organization, mayMail, ...created } = JSON.parse(document) as {
        invitation: Static<typeof invitation>;
        organization: string;
        mayMail: boolean;
      };
      const { email: to, role, createdBy: by, expiresAt } = created.invitation;
      const sent = await sendLink(deps, { requestId: credentials.requestId, secret, mayMail }, (mailed) => {
        const link = invitationLink(deps.publicUrl(), mailed);
        return invitationMail({ to, organization, role, by, link, expiresAt });
      });
      return { ...created.invitation, link: invitationLink(deps.publicUrl(), secret), ...sent };
    },
  }),
  // Returns the revoked invitation.
  adminRoute("revoke_invitation", "DELETE /organization/invitations/:invitationId", {
    summary: "Revoke an open invitation, whose link stops working at once",
    answers: { 200: invitation },
  }),
];
