import type { Sql } from "postgres";
import { one, type Rows } from "./one.js";

/** The calls of the sign-in pages. Each is one round trip. */

/** Whoever is signed in with a browser session. */
export interface SessionUser {
  userId: string;
  email: string;
}

/** Null for a session that is unknown, expired or ended. */
export function currentSession(sql: Sql, sessionHash: Buffer): Promise<SessionUser | null> {
  return one(sql<Rows<SessionUser | null>>`select svc_api.current_session(${sessionHash}) as answer`);
}

export interface BegunSignIn {
  /** How long until the next attempt; null where this one was charged. */
  waitSeconds: number | null;
  /** Null for an unknown address and for a user without a password. */
  userId: string | null;
  /** In PHC form. */
  passwordHash: string | null;
}

/** Charges an attempt to sign in, counted by the client's network address and the e-mail address together. */
export function beginSignIn(sql: Sql, email: string, address: string): Promise<BegunSignIn> {
  return one(sql<Rows<BegunSignIn>>`select svc_api.begin_sign_in(${email}, ${address}) as answer`);
}

export interface VerifiedSignIn {
  email: string;
  address: string;
  userId: string;
  /** The one that was verified. */
  passwordHash: string;
  sessionHash: Buffer;
  /** Of the session that the browser had. */
  previousHash: Buffer | null;
}

/** Starts a session; false where the password was set anew since it was verified. */
export function finishSignIn(sql: Sql, to: VerifiedSignIn): Promise<boolean> {
  return one(sql<Rows<boolean>>`
    select svc_api.finish_sign_in(
      ${to.email}, ${to.address}, ${to.userId}, ${to.passwordHash}, ${to.sessionHash}, ${to.previousHash}
    ) as answer`);
}

export async function signOut(sql: Sql, sessionHash: Buffer): Promise<void> {
  await sql`select svc_api.sign_out(${sessionHash})`;
}

export interface InvitationOfLink {
  status: "open" | "accepted" | "revoked" | "expired";
  /** Slug. */
  organization: string;
  /** Who is invited. */
  email: string;
  role: string;
  /** E-mail address, or "operator". */
  invitedBy: string;
  /** There is a user of the address. */
  isUser: boolean;
  /** That user is a member already. */
  isMember: boolean;
}

/** Null for a link that never was. */
export function invitationOfLink(sql: Sql, linkHash: Buffer): Promise<InvitationOfLink | null> {
  return one(sql<Rows<InvitationOfLink | null>>`select svc_api.invitation_of_link(${linkHash}) as answer`);
}

export interface Acceptance {
  linkHash: Buffer;
  requestId: string;
  /** Of the session that the browser has. */
  previousHash: Buffer | null;
  /** Of the session that a new user gets. */
  sessionHash: Buffer;
  /** Of a new user; null where an existing one joins. */
  passwordHash: string | null;
}

/** False, and nothing is done, where the link does not allow it; `invitationOfLink` tells why. */
export function acceptInvitation(sql: Sql, by: Acceptance): Promise<boolean> {
  return one(sql<Rows<boolean>>`
    select svc_api.accept_invitation(
      ${by.linkHash}, ${by.requestId}, ${by.previousHash}, ${by.sessionHash}, ${by.passwordHash}
    ) as answer`);
}

export interface PasswordLink {
  status: "open" | "used" | "expired";
  /** Whose password it sets. */
  email: string;
}

/** Null for a link that never was. */
export function passwordLink(sql: Sql, linkHash: Buffer): Promise<PasswordLink | null> {
  return one(sql<Rows<PasswordLink | null>>`select svc_api.password_link(${linkHash}) as answer`);
}

/** Sets the password of the link's user, uses the link up and signs the user out everywhere; false where the link is not open. */
export function setPassword(sql: Sql, linkHash: Buffer, passwordHash: string): Promise<boolean> {
  return one(sql<Rows<boolean>>`select svc_api.set_password(${linkHash}, ${passwordHash}) as answer`);
}

/** Deletes sessions, links, tokens and throttles that are over; answers how many rows. For the worker. */
export async function sweepIam(sql: Sql): Promise<number> {
  return Number(await one(sql<Rows>`select svc_api.sweep_iam() as answer`));
}
