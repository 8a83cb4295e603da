import type { NewCredential } from "./request/credentials.js";

/** One-time links. The secret stands in the query, because pages without scripts see no fragment; the page puts it into a cookie at once. */

/** @param publicUrl where people reach the service, without a slash at the end. */
export function invitationLink(publicUrl: string, secret: NewCredential): string {
  return `${publicUrl}/invitation?token=${secret.text}`;
}

/** @param publicUrl where people reach the service, without a slash at the end. */
export function passwordLink(publicUrl: string, secret: NewCredential): string {
  return `${publicUrl}/password?token=${secret.text}`;
}
