/** The caller of the administrative API. Each call is one round trip, which also checks the credentials. */
export interface AdminCredentials {
  /** SHA-256 of the access token. */
  tokenHash: Buffer;
  organizationId: string;
  /** For the audit log. */
  requestId: string;
}

/** An environment by its names. */
export interface EnvironmentRef {
  /** Slug of the project. */
  project: string;
  environment: "test" | "live";
}

/** A part of a list; without a cursor, its beginning. */
export interface Page {
  limit: number;
  cursor?: string | undefined;
}

export const ROLES = ["owner", "administrator", "developer", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** The maximum, and default, lifetime of a headless token. */
export const TOKEN_EXPIRES_IN_DAYS_MAX = 90;
