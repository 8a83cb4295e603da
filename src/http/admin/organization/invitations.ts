import Type, { type Static } from "typebox";
import { call } from "../../../db/api/call.js";
import type { Mail } from "../../../mail/mailer.js";
import { invitationMail, passwordMail } from "../../../mail/messages.js";
import { invitationLink, type NewCredential, newCredential, passwordLink } from "../../request/credentials.js";
import { type AdminDeps, adminRoute } from "../route.js";
import { exact, instant, listOf, named, role } from "../schemas.js";
import { emailAddress, emptyObject, KIB, pageQuery } from "../parameters.js";

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
