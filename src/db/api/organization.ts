export const ROLES = ["owner", "administrator", "developer", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** The longest that a headless token lives, and how long it does unless told otherwise. */
export const TOKEN_EXPIRES_IN_DAYS_MAX = 90;
