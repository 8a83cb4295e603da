/** What contradicts an invariant, in one environment; without names where it concerns none. */
export interface InvariantViolation {
  invariant: string;
  /** What must hold, in a sentence. */
  holds: string;
  organization: string | null;
  project: string | null;
  environment: string | null;
  violations: number;
  /** Five at most. */
  examples: string[];
  /** What to do. */
  advice: string;
}

/** Whether all is well, as of one instant. */
export interface Examination {
  /** How many invariants were looked at. */
  checks: number;
  violations: InvariantViolation[];
  /** The last migration; null where there is none. */
  migration: string | null;
  workersAlive: number;
  pendingOperations: number;
  /** When the oldest operation that waits for a worker was accepted, ISO 8601; null where none waits. */
  pendingSince: string | null;
  setAsideCustomers: number;
  disabledWebhooks: number;
  failingWebhooks: number;
  /** Of which nothing waits or fails in these figures. */
  frozenEnvironments: number;
}

/** The limits of a plan by the names of its document; null for none. */
export interface PlanLimits {
  ratePerSecond: number;
  rateBurst: number;
  monthlyEvents: number | null;
  retentionDays: number | null;
  supersededDays: number | null;
  cloudExecution: boolean;
  ai: boolean;
  stateBytes: number;
  projects: number;
  members: number;
  tokens: number;
  versions: number;
  versionBytes: number;
  keys: number;
  webhooks: number;
  recomputes: number;
  previews: number;
  changes: number;
}
