import type { Mail } from "./mailer.js";

export interface InvitationMail {
  to: string;
  /** Slug of the organization. */
  organization: string;
  role: string;
  /** E-mail address of the user who invites. */
  by: string;
  link: string;
  /** ISO 8601. */
  expiresAt: string;
}

export function invitationMail({ to, organization, role, by, link, expiresAt }: InvitationMail): Mail {
  return {
    to,
    subject: `Invitation to ${organization}`,
    text: paragraphs(
      `${by} invites you to the organization "${organization}", as ${role}.`,
      "Open this link to accept. It works once:",
      link,
      `It stops working at ${shownInstant(expiresAt)}. If you did not expect it, you can ignore this mail.`,
    ),
  };
}

/** @param by who created the link: an owner of the organization, or anybody who asked for it on the sign-in page */
export function passwordMail(
  { to, link, expiresAt }: Pick<InvitationMail, "to" | "link" | "expiresAt">,
  by: "owner" | "anybody",
): Mail {
  const [created, advice] = {
    owner: [
      "An owner of your organization created a link",
      "ask the owner who did: anyone who has the link can sign in as you",
    ],
    anybody: ["Somebody asked on the sign-in page for a link", "do nothing: your password stays as it is"],
  }[by] as [string, string];
  return {
    to,
    subject: "Set your password",
    text: paragraphs(
      `${created} by which you can set a new password. It works once:`,
      link,
      `It stops working at ${shownInstant(expiresAt)}. If you did not ask for it, ${advice}.`,
    ),
  };
}

function paragraphs(...texts: string[]): string {
  return `${texts.join("\n\n")}\n`;
}

/** `2026-11-28T13:05:09.123Z` as `2026-11-28 13:05 UTC`. */
function shownInstant(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;
}
