import type { Sql } from "postgres";
import { one, type Rows } from "./one.js";

/**
 * The calls of the device sign-in (RFC 8628). Each is one round trip. What a device or a guess did wrong is answered, not raised, because
 * the database keeps count of it.
 */

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

export function beginDeviceAuthorization(sql: Sql, device: NewDevice): Promise<DeviceBegun> {
  const { deviceCodeHash, userCode, clientId, address, network } = device;
  return one(sql<Rows<DeviceBegun>>`
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
  return one(sql<Rows<DeviceRedeemed>>`
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
  return one(sql<Rows<DeviceFound>>`
    select svc_api.find_device_authorization(${sessionHash}, ${userCode}) as answer`);
}

/** The first decision of a user stands, and is what is answered. */
export function decideDeviceAuthorization(
  sql: Sql,
  sessionHash: Buffer,
  userCode: string,
  approve: boolean,
): Promise<DeviceDecided> {
  return one(sql<Rows<DeviceDecided>>`
    select svc_api.decide_device_authorization(${sessionHash}, ${userCode}, ${approve}) as answer`);
}

/** Whether the token is revoked now, or nobody's; false for a good one that was not made for this client. */
export async function revokeSessionToken(sql: Sql, tokenHash: Buffer, clientId: string): Promise<boolean> {
  const { revoked } = await one(sql<Rows<{ revoked: boolean }>>`
    select svc_api.revoke_session_token(${tokenHash}, ${clientId}) as answer`);
  return revoked;
}
