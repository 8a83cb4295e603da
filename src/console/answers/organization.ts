/** An API key without its secret. */
export interface Key {
  id: string;
  name: string;
  hint: string;
  status: "active" | "expiring" | "revoked";
  createdAt: string;
  createdBy: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export type Role = "viewer" | "developer" | "administrator" | "owner";

export interface Member {
  userId: string;
  email: string;
  role: Role;
  createdAt: string;
}

/** An open invitation. */
export interface Invitation {
  id: string;
  email: string;
  role: Role;
  createdBy: string;
  createdAt: string;
  expiresAt: string;
}

/** A token for programs, without its secret. */
export interface AccessToken {
  id: string;
  label: string;
  /** The most it may do; null for all that its user may. */
  role: Role | null;
  user: { id: string; email: string };
  createdAt: string;
  expiresAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface AuditEntry {
  at: string;
  action: string;
  /** Who did it: an e-mail address, operator, or svc. */
  actor: string;
  tokenId: string | null;
  project: string | null;
  environment: string | null;
  target: string | null;
  details: Record<string, unknown>;
}

/** What an organization has used of its plan. */
export interface Usage {
  plan: string;
  /** The calendar month (UTC) that its events are counted in. */
  month: string;
  resetsAt: string;
  used: { monthlyEvents: number; projects: number; members: number; tokens: number };
  /** Null without a limit. */
  limits: {
    monthlyEvents: number | null;
    retentionDays: number | null;
    supersededDays: number | null;
    projects: number;
    members: number;
    tokens: number;
    ratePerSecond: number;
    keys: number;
    webhooks: number;
  };
}
