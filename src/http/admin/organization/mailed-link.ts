import { mailLink } from "../../../db/calls-organization.js";
import type { Mail } from "../../../mail/mailer.js";
import type { AdminDeps } from "../route.js";
import { newLinkSecret, type NewCredential } from "../../credentials.js";

/**
 * Mails a link where mail is set up; whether the mail server has taken it. The mail has a secret of its own: whoever asked for the link sees
 * the other one, so that only the use of this one verifies the address.
 *
 * @param secret of the link that was made
 * @param mailOf the mail with the secret that it is to hold
 */
export async function sendLink(
  deps: AdminDeps,
  requestId: string,
  secret: NewCredential,
  mailOf: (mailed: NewCredential) => Mail,
): Promise<boolean> {
  if (deps.mailer === null) return false;
  const mailed = newLinkSecret();
  await mailLink(deps.sql, secret.hash, mailed.hash);
  return deps.mailer.send(mailOf(mailed), requestId);
}
