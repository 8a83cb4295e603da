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

/** A key that was made, with its secret. */
export interface CreatedKey {
  key: Key;
  secret: string;
}

/** A key that takes the place of another, which works until then. */
export interface RotatedKey extends CreatedKey {
  replaced: { revokedAt: string };
}

export type Role = "viewer" | "developer" | "administrator" | "owner";

/** Who asks, and for whom. */
export interface Actor {
  user: { email: string };
  organization: { id: string; slug: string; role: Role };
}

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

/** A link that is shown once; `mailed` where the mail server took another to the same end. */
export interface MadeLink {
  link: string;
  expiresAt: string;
  mailed: boolean;
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

export type CreatedToken = AccessToken & { accessToken: string };

export interface AuditEntry {
  at: string;
  action: string;
  /** Who did it: an e-mail address, operator, or svc. */
  actor: string;
  project: string | null;
  environment: string | null;
  target: string | null;
  details: Record<string, unknown>;
}

/** What an organization has used of its plan. */
export interface Usage {
  plan: string;
  resetsAt: string;
  used: { monthlyEvents: number; projects: number; members: number; tokens: number };
  /** Null without a limit. */
  limits: {
    monthlyEvents: number | null;
    retentionDays: number | null;
    projects: number;
    members: number;
    tokens: number;
  };
}
