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

export const organization = named("Organization", "An organization, and what the token may do in it", {
  id: Type.String(),
  slug: Type.String(),
  role,
});

export const changedOrganization = exact({ id: Type.String(), slug: Type.String(), timeZone });

export const actor = named("Actor", {
  user: exact({ email: Type.String() }),
  organization: exact({ id: Type.String(), slug: Type.String(), role }),
});

export const member = named("Member", "A user of the organization", {
  userId: Type.String(),
  email: emailAddress,
  role,
  createdAt: instant,
});

const tokenMembers = {
  id: Type.String(),
  label: Type.String(),
  /** The most it may do; null: all that its user may. */
  role: orNull(role),
  user: exact({ id: Type.String(), email: Type.String() }),
  createdAt: instant,
  expiresAt: instant,
  lastUsedAt: orNull(instant),
  revokedAt: orNull(instant),
};
export const token = named("AccessToken", "A headless token without the token", tokenMembers);
export const createdToken = named("CreatedAccessToken", { ...tokenMembers, accessToken: Type.String() });
const newToken = exact({
  label: displayName,
  role: Type.Optional(role),
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: TOKEN_EXPIRES_IN_DAYS_MAX })),
});

const filter = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));
const text = orNull(Type.String());
export const auditEntry = named("AuditEntry", "A change", {
  at: instant,
  action: Type.String(),
  actor: Type.String({
    description: "E-mail address of who did it; operator, or svc for what the service does by itself",
  }),
  actorUserId: text,
  tokenId: text,
  requestId: text,
  project: text,
  environment: text,
  target: text,
  details: Type.Object({}, { additionalProperties: true, description: "What more there is to say, by action" }),
});

export const usage = named("Usage", "What the organization has used of its plan.", {
  plan: Type.String({ examples: ["standard"] }),
  month: Type.String({ description: "The calendar month (UTC) that `monthlyEvents` counts.", examples: ["2026-03"] }),
  resetsAt: instant,
  used: exact({
    monthlyEvents: countOf("Events that were stored, over all projects; repetitions are not counted."),
    projects: count,
    members: countOf("With open invitations."),
    tokens: countOf("Access tokens that work."),
  }),
  limits: exact({
    cloudExecution: Type.Boolean({ description: "Whether events are accepted at all." }),
    ai: Type.Boolean({ description: "Whether a language model may be asked." }),
    ratePerSecond: countOf("Operations per second and API key."),
    rateBurst: countOf("Operations of an API key at once."),
    monthlyEvents: orNull(count, "Events that are stored in a month; null without a limit."),
    retentionDays: orNull(count, "Days for which events are kept; null for ever."),
    supersededDays: orNull(count, "Days for which histories are kept that a recompute replaced; null for ever."),
    stateBytes: countOf("Bytes that a model may remember for one customer."),
    projects: count,
    members: count,
    tokens: count,
    versions: countOf("Configuration versions of a project."),
    versionBytes: countOf("Bytes that these take together."),
    keys: countOf("API keys of an environment that work."),
    webhooks: countOf("Webhooks of an environment."),
    recomputes: countOf("Recomputes and dry runs of an environment that are not finished."),
    previews: countOf("Previews and backtests of an environment that are not finished."),
    changes: countOf("Changes that a member makes in a minute."),
  }),
});

/** Who acts, and for whom; the members of the organization. */
export const organizationRoutes = [
  adminRoute("whoami", "GET /whoami", { summary: "Who acts, and for whom", answers: { 200: actor } }),
  // Those of its user, or the one of a headless token.
  adminRoute("list_organizations", "GET /organizations", {
    organization: false,
    summary: "The organizations that the token is good for, by slug",
    query: pageQuery,
    answers: { 200: listOf(organization) },
    answer: ({ deps, credentials, query }) => call(deps.sql, "list_organizations", credentials.tokenHash, query),
  }),
  adminRoute("update_organization", "PATCH /organization", {
    summary: "Give the organization another time zone",
    body: { schema: exact({ timeZone }), bytesMax: KIB },
    answers: { 200: changedOrganization },
    // Pages tell instants by Node.js' own table of zones; the database looks into its own.
    passes: ({ body }) => [knownTimeZone(body.timeZone)],
  }),
  adminRoute("list_members", "GET /organization/members", {
    summary: "The members of the organization by address",
    query: pageQuery,
    answers: { 200: listOf(member) },
  }),
  adminRoute("update_member", "PATCH /organization/members/:userId", {
    summary: "Give a member another role",
    body: { schema: exact({ role }), bytesMax: KIB },
    answers: { 200: member },
    refusals: { 409: ["LAST_OWNER"] },
    passes: ({ params, body }) => [params["userId"]!, body.role],
  }),
  // The last owner stays. Answers the member as it was.
  adminRoute("remove_member", "DELETE /organization/members/:userId", {
    summary: "End a membership, and revoke the headless tokens that the user had for the organization",
    answers: { 200: member },
    refusals: { 409: ["LAST_OWNER"] },
  }),
];

/** The headless tokens of the organization, also those that stopped, what was changed in it, and what it has used. */
export const tokenRoutes = [
  adminRoute("list_tokens", "GET /organization/tokens", {
    summary: "The headless tokens of the organization, newest first",
    query: pageQuery,
    answers: { 200: listOf(token) },
  }),
  // It acts as whoever makes it. It is in this answer and nowhere else, ever.
  adminRoute("create_token", "POST /organization/tokens", {
    summary: "Make a headless token that acts as you in this organization, with your role or a lesser one",
    body: { schema: newToken, bytesMax: 4 * KIB },
    answers: { 201: createdToken },
    answer: async ({ call, body: { label, role, expiresInDays = TOKEN_EXPIRES_IN_DAYS_MAX } }) => {
      const accessToken = newCredential("token");
      const document = await call("create_token", label, role, expiresInDays, accessToken.hash);
      const made = JSON.parse(document) as Static<typeof token>;
      return { ...made, accessToken: accessToken.text };
    },
  }),
  // Done again, it changes nothing.
  adminRoute("revoke_token", "DELETE /organization/tokens/:tokenId", {
    summary: "Revoke a headless token; it stops at once",
    answers: { 200: token },
  }),
  // `action=member.removed`, `actor=ada@example.com`, `since=7d` or a date.
  adminRoute("list_audit_log", "GET /organization/audit-log", {
    summary: "What was changed in the organization, newest first",
    query: exact({ ...pageQuery.properties, action: filter, actor: filter, since: filter }),
    answers: { 200: listOf(auditEntry) },
    passes: ({ query }) => [query.action, query.actor, sinceFilter(query.since), query],
  }),
  adminRoute("get_usage", "GET /organization/usage", {
    summary: "What the organization has used of its plan, and the plan's limits",
    answers: { 200: usage },
  }),
];

/**
 * Mails a link where mail is set up, and tells what became of the mail. The mail has a secret of its own: whoever asked for the link sees
 * the other one, so that only the use of this one verifies the address.
 *
 * @param secret of the link that was made
 * @param mailOf the mail with the secret that it is to hold
 */
async function sendLink(
  deps: AdminDeps,
  requestId: string,
  secret: NewCredential,
  mailOf: (mailed: NewCredential) => Mail,
): Promise<{ mailed: boolean; mailFailed: boolean }> {
  if (deps.mailer === null) return { mailed: false, mailFailed: false };
  const mailed = newCredential("link");
  await call(deps.sql, "mail_link", secret.hash, mailed.hash);
  const isTaken = await deps.mailer.send(mailOf(mailed), requestId);
  return { mailed: isTaken, mailFailed: !isTaken };
}

const mail = {
  mailed: Type.Boolean({ description: "Whether the mail server took the link; false also where no mail is set up." }),
  mailFailed: Type.Boolean({ description: "Whether mail is set up, and the mail server did not take the link." }),
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
export const invitation = named("Invitation", "An invitation without its link", members);
export const createdInvitation = named("CreatedInvitation", { ...members, link: Type.String(), ...mail });

/** Links by which people come in, and members set passwords. */
export const invitationRoutes = [
  // The link is in this answer, and another one in the mail where mail is set up, and nowhere else, ever.
  adminRoute("create_password_reset", "POST /organization/members/:userId/password-reset", {
    summary: "Make a link by which a member sets a password, good for 24 hours; stops the one before",
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 201: passwordReset },
    answer: async ({ deps, credentials, call, params }) => {
      const secret = newCredential("link");
      const document = await call("create_password_reset", params["userId"]!, secret.hash);
      const { email: to, expiresAt } = JSON.parse(document) as { email: string; expiresAt: string };
      const sent = await sendLink(deps, credentials.requestId, secret, (mailed) =>
        passwordMail({ to, link: passwordLink(deps.publicUrl(), mailed), expiresAt }, "owner"),
      );
      return { link: passwordLink(deps.publicUrl(), secret), expiresAt, ...sent };
    },
  }),
  adminRoute("list_invitations", "GET /organization/invitations", {
    summary: "The open invitations of the organization by address",
    query: pageQuery,
    answers: { 200: listOf(invitation) },
  }),
  // The link is in this answer, and another to the same invitation in the mail where mail is set up, and nowhere else, ever.
  adminRoute("create_invitation", "POST /organization/invitations", {
    summary: "Invite an address by a link that is good for 7 days; replaces its open invitation",
    body: { schema: exact({ email: emailAddress, role }), bytesMax: 4 * KIB },
    answers: { 201: createdInvitation },
    refusals: { 409: ["ALREADY_MEMBER"] },
    answer: async ({ deps, credentials, call, body }) => {
      const secret = newCredential("link");
      const document = await call("create_invitation", body.email, body.role, secret.hash);
      const made = JSON.parse(document) as { invitation: Static<typeof invitation>; organization: string };
      const { email: to, role, createdBy: by, expiresAt } = made.invitation;
      const sent = await sendLink(deps, credentials.requestId, secret, (mailed) => {
        const link = invitationLink(deps.publicUrl(), mailed);
        return invitationMail({ to, organization: made.organization, role, by, link, expiresAt });
      });
      return { ...made.invitation, link: invitationLink(deps.publicUrl(), secret), ...sent };
    },
  }),
  // Answers the invitation as it was.
  adminRoute("revoke_invitation", "DELETE /organization/invitations/:invitationId", {
    summary: "Revoke an open invitation; its link stops at once",
    answers: { 200: invitation },
  }),
];
