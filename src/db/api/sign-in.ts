import type { Role } from "./access.js";

/** The user of a browser session; null if the session is unknown, expired or ended. */
export interface SessionUser {
  userId: string;
  email: string;
}

/** Begins a sign-in. Attempts are counted by the client's network address and the e-mail address together. */
export interface BegunSignIn {
  /** Seconds until the next attempt is allowed; null if this one was allowed, and counted. */
  waitSeconds: number | null;
  /** Null for an unknown address and for a user without a password. */
  userId: string | null;
  /** In PHC form. */
  passwordHash: string | null;
}

/** Starts a session; the answer is false if the password was changed since it was verified. */
export interface VerifiedSignIn {
  email: string;
  address: string;
  userId: string;
  /** The one that was verified. */
  passwordHash: string;
  sessionHash: Buffer;
  /** Of the browser's session before, if any. */
  previousHash: Buffer | null;
}

/** The answer to a request for a link to set a password. */
export interface PasswordLinkAsked {
  /** Seconds until the next request is allowed; null if this one was allowed, and counted. */
  waitSeconds: number | null;
  /** The recipient of the link, and when it expires; null if no mail is to be sent, which the requester must not learn. */
  mail: { to: string; expiresAt: string } | null;
}

/** The invitation of a link; null for an unknown link. */
export interface InvitationOfLink {
  status: "open" | "accepted" | "revoked" | "expired";
  /** Slug. */
  organization: string;
  /** E-mail address of the invited person. */
  email: string;
  role: string;
  /** E-mail address, or "operator". */
  invitedBy: string;
  /** A user with this address exists. */
  isUser: boolean;
  /** That user is already a member. */
  isMember: boolean;
}

/** Accepts an invitation. The answer is false, and nothing is done, if the link does not allow it; `invitation_of_link` shows why. */
export interface Acceptance {
  linkHash: Buffer;
  requestId: string;
  /** Of the browser's current session, if any. */
  previousHash: Buffer | null;
  /** Of the session of a new user. */
  sessionHash: Buffer;
  /** Of a new user; null if an existing one joins. */
  passwordHash: string | null;
}

/** A link that sets the password, and signs the user out everywhere. */
export interface PasswordLink {
  status: "open" | "used" | "expired";
  /** The user whose password it sets. */
  email: string;
}

/** Too many requests; `retryAfter` in seconds. */
interface Throttled {
  status: "throttled";
  retryAfter: number;
}

export interface NewDevice {
  /** SHA-256 of the code that the device polls with. */
  deviceCodeHash: Buffer;
  /** 8 letters. */
  userCode: string;
  clientId: string;
  /** Where the request comes from, for people to read. */
  address: string;
  /** The network by which requests are throttled. */
  network: string;
}

/** `taken`: the user code already belongs to another device. Numbers are seconds. */
export type DeviceBegun = { status: "begun"; expiresIn: number; interval: number } | { status: "taken" } | Throttled;

/** The answer to a poll. When `granted`, the token is valid from then on. Refusals have the names of RFC 8628. */
export type DeviceRedeemed =
  | { status: "granted"; expiresIn: number }
  | { status: "authorization_pending" | "access_denied" | "expired_token" }
  | { status: "slow_down"; interval: number }
  | { status: "invalid_grant"; reason: "unknown" | "redeemed" };

/** The device that waits under a user code; `createdAt` is an ISO-8601 instant. */
export interface DevicePending {
  status: "pending";
  clientId: string;
  address: string;
  createdAt: string;
}

/** The user's decision for a code, of which the first one counts, or why there is none. */
export type DeviceDecided = { status: "approved" | "denied" } | { status: "unknown" | "signed_out" } | Throttled;

export type DeviceFound = DevicePending | DeviceDecided;

/** The data of the frame around each page of the console. */
export interface ConsolePlace {
  email: string;
  /** Slugs of the user's organizations, the first hundred. */
  organizations: string[];
  /** Null for a user without an organization. */
  organization: { id: string; slug: string; role: Role; timeZone: string } | null;
  /** The first hundred. */
  projects: { slug: string; name: string }[];
  /** A slug; null if there is no project. */
  project: string | null;
  environment: "test" | "live";
  activeVersion: string | null;
  /** Operations of iam.operations() that the user may do there. */
  operations: string[];
}

/** A link that signs a user in, and its expiry. */
export interface SignInLink {
  email: string;
  expiresAt: string;
}
