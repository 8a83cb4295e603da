import type { EvaluationResult } from "../../../src/db/api/evaluation.js";

/** What svc_api.apply_evaluation takes where there is nothing to write. */
export const NOTHING: EvaluationResult = {
  customers: [],
  identifies: [],
  transitions: [],
  blocked: [],
  journeys: [],
  memberships: [],
  healthScores: [],
  ruleExecutions: [],
  signals: [],
  emissions: [],
  consumed: [],
  deferred: [],
};
