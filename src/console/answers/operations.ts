import type { TraitsOf } from "../../backtest/question.js";
import type { BacktestReport } from "../../backtest/report-types.js";
import type { RuleResult } from "../../engine/state/types.js";

/** A common problem. */
export interface Finding {
  code: string;
  severity: "problem" | "warning" | "info";
  message: string;
  fix: string;
  details: Record<string, unknown>;
}

/** A job on the customers of an environment, and how far it came. */
export interface Job {
  id: string;
  status: "queued" | "running" | "retrying" | "completed" | "dead_letter";
  nextAttemptAt: string | null;
  error: string | null;
  progress: { customersTotal: number | null; customersDone: number };
  requestedBy: string;
  requestedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** A recompute or a preview. */
export interface Replay extends Job {
  dry_run: boolean;
  pins: { configVersion: string | null; evaluatedAt: string };
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
}

/** `customerId` is of a recompute of one customer. */
export type Recompute = Replay & { customerId: string | null };

/** `sample` is about how many customers it looks at; null for all. `hash` is of its snapshot. */
export type Preview = Replay & { sample: number | null; hash: string };

/** Instants are ISO 8601, lengths as models have them. */
export interface Backtest extends Job {
  /** `state:<id>`, `event:<name>` or `segment:<id>`. */
  outcome: string;
  within: string;
  every: string;
  from: string;
  to: string;
  /** About how many it looks at; null for all. */
  customers: number | null;
  traits: TraitsOf;
  /** The version is null of a snapshot that is not deployed. */
  model: { configVersion: string | null };
  /** The version that is looked at beside it. */
  against: string | null;
  /** Null until it is completed. */
  report: BacktestReport | null;
}

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
