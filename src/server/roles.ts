/** What a process of `svc-server start` does. */
export const ROLES = ["all", "http", "worker"] as const;
export type Role = (typeof ROLES)[number];
