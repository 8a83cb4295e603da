/** Violations of an invariant in one environment; the names are null if it concerns none. */
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

/** The result of `svc-server doctor`'s checks, as of one instant. */
export interface Examination {
  /** How many invariants were checked. */
  checks: number;
  violations: InvariantViolation[];
  /** The last migration; null if there is none. */
  migration: string | null;
  workersAlive: number;
  pendingOperations: number;
  /** When the oldest operation that waits for a worker was accepted, ISO 8601; null if none waits. */
  pendingSince: string | null;
  setAsideCustomers: number;
  disabledWebhooks: number;
  failingWebhooks: number;
  /** Frozen environments are not counted in the figures of what waits or fails. */
  frozenEnvironments: number;
}

/** What tables must have besides their columns and indexes, as `schema.table.name`. */
export interface Constraints {
  foreignKeys: string[];
  triggers: string[];
}
