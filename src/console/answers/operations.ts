import type { RuleResult } from "../../engine/state/types.js";

/** A common problem. */
export interface Finding {
  code: string;
  severity: "problem" | "warning" | "info";
  message: string;
  fix: string;
  details: Record<string, unknown>;
}

/** What a recompute or a preview is, and how far it came. */
export interface Job {
  id: string;
  status: "queued" | "running" | "retrying" | "completed" | "dead_letter";
  dry_run: boolean;
  pins: { configVersion: string | null; evaluatedAt: string };
  nextAttemptAt: string | null;
  error: string | null;
  progress: { customersTotal: number | null; customersDone: number };
  /** So far. */
  result: {
    lifecycleChanged: number;
    healthChanged: number;
    segmentsEntered: number;
    segmentsExited: number;
    customersChanged: number;
    rules: number;
    rulesRemoved: number;
    emissions: number;
  };
  requestedBy: string;
  requestedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** `customerId` is of a recompute of one customer. */
export type Recompute = Job & { customerId: string | null };

/** `sample` is about how many customers it looks at; null for all. `hash` is of its snapshot. */
export type Preview = Job & { sample: number | null; hash: string };

interface BeforeAndAfter<Value> {
  before: Value;
  after: Value;
}

/** A customer before a recompute and after it. */
export interface CustomerDifference {
  customerId: string;
  lifecycle: BeforeAndAfter<string | null>;
  health: BeforeAndAfter<{ overall: number; band?: string } | null>;
  segments: BeforeAndAfter<string[]>;
  /** Not in what earlier releases compared. */
  signals?: BeforeAndAfter<string[]>;
  rules: { ruleId: string; result: RuleResult; executedAt: string }[];
  rulesOmitted?: number;
  rulesRemoved?: number;
  emissions: { eventType: string; timestamp: string }[];
  emissionsOmitted?: number;
}
