import type { Sql } from "postgres";
import { scalar, type Rows } from "./scalar.js";

/** The calls of the sign-in pages. Each is one round trip. */

/** Whoever is signed in with a browser session. */
interface SessionUser {
  userId: string;
  email: string;
}

/** Null for a session that is unknown, expired or ended. */
export function currentSession(sql: Sql, sessionHash: Buffer): Promise<SessionUser | null> {
  return scalar(sql<Rows<SessionUser | null>>`select svc_api.current_session(${sessionHash}) as answer`);
}

interface BegunSignIn {
  /** How long until the next attempt; null where this one was charged. */
  waitSeconds: number | null;
  /** Null for an unknown address and for a user without a password. */
  userId: string | null;
  /** In PHC form. */
  passwordHash: string | null;
}

/** Charges an attempt to sign in, counted by the client's network address and the e-mail address together. */
export function beginSignIn(sql: Sql, email: string, address: string): Promise<BegunSignIn> {
  return scalar(sql<Rows<BegunSignIn>>`select svc_api.begin_sign_in(${email}, ${address}) as answer`);
}

interface VerifiedSignIn {
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
  return scalar(sql<Rows<boolean>>`
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
  return scalar(sql<Rows<InvitationOfLink | null>>`select svc_api.invitation_of_link(${linkHash}) as answer`);
}

interface Acceptance {
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
  return scalar(sql<Rows<boolean>>`
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
  return scalar(sql<Rows<PasswordLink | null>>`select svc_api.password_link(${linkHash}) as answer`);
}

/** Sets the password of the link's user, uses the link up and signs the user out everywhere; false where the link is not open. */
export function setPassword(sql: Sql, linkHash: Buffer, passwordHash: string): Promise<boolean> {
  return scalar(sql<Rows<boolean>>`select svc_api.set_password(${linkHash}, ${passwordHash}) as answer`);
}

/** Deletes sessions, links, tokens and throttles that are over; answers how many rows. For the worker. */
export async function sweepIam(sql: Sql): Promise<number> {
  return Number(await scalar(sql<Rows>`select svc_api.sweep_iam() as answer`));
}

/**
 * The calls of the device sign-in (RFC 8628). Each is one round trip. What a device or a guess did wrong is answered, not raised, because
 * the database keeps count of it.
 */

/** Asks too often; seconds until it is worth another try. */
interface Throttled {
  status: "throttled";
  retryAfter: number;
}

interface NewDevice {
  /** SHA-256 of what the device polls with. */
  deviceCodeHash: Buffer;
  /** 8 letters. */
  userCode: string;
  clientId: string;
  /** From where it asks, for people to read. */
  address: string;
  /** What it is throttled by. */
  network: string;
}

/** `taken`: the user code stands for another device. Seconds otherwise. */
export type DeviceBegun = { status: "begun"; expiresIn: number; interval: number } | { status: "taken" } | Throttled;

export function beginDeviceAuthorization(sql: Sql, device: NewDevice): Promise<DeviceBegun> {
  const { deviceCodeHash, userCode, clientId, address, network } = device;
  return scalar(sql<Rows<DeviceBegun>>`
    select svc_api.begin_device_authorization(${deviceCodeHash}, ${userCode}, ${clientId}, ${address}, ${network}) as answer`);
}

/** What a poll is answered with; the refusals are named as RFC 8628 does. */
export type DeviceRedeemed =
  | { status: "granted"; expiresIn: number }
  | { status: "authorization_pending" | "access_denied" | "expired_token" }
  | { status: "slow_down"; interval: number }
  | { status: "invalid_grant"; reason: "unknown" | "redeemed" };

/** Where the answer is `granted`, the token of the hash is good from then on. */
export function redeemDeviceCode(
  sql: Sql,
  deviceCodeHash: Buffer,
  clientId: string,
  tokenHash: Buffer,
): Promise<DeviceRedeemed> {
  return scalar(sql<Rows<DeviceRedeemed>>`
    select svc_api.redeem_device_code(${deviceCodeHash}, ${clientId}, ${tokenHash}) as answer`);
}

/** What asks under a code; `createdAt` is an ISO-8601 instant. */
export interface DevicePending {
  status: "pending";
  clientId: string;
  address: string;
  createdAt: string;
}

/** What the user decided under a code, or why that was not looked up. */
export type DeviceDecided = { status: "approved" | "denied" } | { status: "unknown" | "signed_out" } | Throttled;

export type DeviceFound = DevicePending | DeviceDecided;

export function findDeviceAuthorization(sql: Sql, sessionHash: Buffer, userCode: string): Promise<DeviceFound> {
  return scalar(sql<Rows<DeviceFound>>`
    select svc_api.find_device_authorization(${sessionHash}, ${userCode}) as answer`);
}

/** The first decision of a user stands, and is what is answered. */
export function decideDeviceAuthorization(
  sql: Sql,
  sessionHash: Buffer,
  userCode: string,
  approve: boolean,
): Promise<DeviceDecided> {
  return scalar(sql<Rows<DeviceDecided>>`
    select svc_api.decide_device_authorization(${sessionHash}, ${userCode}, ${approve}) as answer`);
}

/** Whether the token is revoked now, or nobody's; false for a good one that was not made for this client. */
export async function revokeSessionToken(sql: Sql, tokenHash: Buffer, clientId: string): Promise<boolean> {
  const { revoked } = await scalar(sql<Rows<{ revoked: boolean }>>`
    select svc_api.revoke_session_token(${tokenHash}, ${clientId}) as answer`);
  return revoked;
}
