import type { Role } from "./access.js";

/** Whoever is signed in with a browser session; null for one that is unknown, expired or ended. */
export interface SessionUser {
  userId: string;
  email: string;
}

/** An attempt to sign in is counted by the client's network address and the e-mail address together. */
export interface BegunSignIn {
  /** How long until the next attempt; null where this one was charged. */
  waitSeconds: number | null;
  /** Null for an unknown address and for a user without a password. */
  userId: string | null;
  /** In PHC form. */
  passwordHash: string | null;
}

/** Starts a session; false where the password was set anew since it was verified. */
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

/** A link by which a user sets a password was asked for. */
export interface PasswordLinkAsked {
  /** How long until the next may be asked for; null where this one was counted. */
  waitSeconds: number | null;
  /** Whom to mail the link to, and when it stops; null where nobody is to be told, of which whoever asked must not learn. */
  mail: { to: string; expiresAt: string } | null;
}

/** What is found by a link; null for one that never was. */
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

/** False, and nothing is done, where the link does not allow it; the invitation of the link tells why. */
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

/** Used, it sets the password and signs the user out everywhere. */
export interface PasswordLink {
  status: "open" | "used" | "expired";
  /** Whose password it sets. */
  email: string;
}

/** Asks too often; seconds until it is worth another try. */
interface Throttled {
  status: "throttled";
  retryAfter: number;
}

export interface NewDevice {
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

/** What a poll is answered with: granted, the token is good from then on. The refusals are named as RFC 8628 does. */
export type DeviceRedeemed =
  | { status: "granted"; expiresIn: number }
  | { status: "authorization_pending" | "access_denied" | "expired_token" }
  | { status: "slow_down"; interval: number }
  | { status: "invalid_grant"; reason: "unknown" | "redeemed" };

/** What asks under a code; `createdAt` is an ISO-8601 instant. */
export interface DevicePending {
  status: "pending";
  clientId: string;
  address: string;
  createdAt: string;
}

/** What the user decided under a code, of which the first decision stands, or why that was not looked up. */
export type DeviceDecided = { status: "approved" | "denied" } | { status: "unknown" | "signed_out" } | Throttled;

export type DeviceFound = DevicePending | DeviceDecided;

/** What stands around a page of the console. */
export interface ConsolePlace {
  email: string;
  /** Slugs of the user's organizations, the first hundred. */
  organizations: string[];
  /** Null for a user of none. */
  organization: { id: string; slug: string; role: Role; timeZone: string } | null;
  /** The first hundred. */
  projects: { slug: string; name: string }[];
  /** A slug; null where there is none. */
  project: string | null;
  environment: "test" | "live";
  activeVersion: string | null;
  /** Those of iam.operations() that the user may do there. */
  operations: string[];
}

/** A link that signs somebody in: whom, and until when. */
export interface SignInLink {
  email: string;
  expiresAt: string;
}
