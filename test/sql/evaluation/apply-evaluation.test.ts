import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import type { EvaluationResult } from "../../../src/db/api/evaluation.js";
import { createDatabase } from "../../support/database.js";
import { NOTHING } from "../../tasks/support/nothing.js";

const ENVIRONMENT = 7;
const AT = Date.parse("2026-03-01T10:00:00.123Z");
const LATER = AT + 60_000;
const BY_EVENT = { causeType: "event" as const, causeId: "evt_1" };

const db = await createDatabase();
const { sql } = db;
beforeEach(async () => {
  await sql`
    truncate svc.customers, svc.journey_runs, svc.health_scores, svc.rule_executions, svc.signals, svc.blocked_transitions`;
});
afterAll(() => db.drop());

async function apply(result: Partial<EvaluationResult>): Promise<void> {
  await sql.begin(async (tx) => {
    const [{ id }] = await tx<[{ id: string }]>`select pg_current_xact_id()::text as id`;
    const written = { ...NOTHING, ...result };
    await call(tx, "apply_evaluation", ENVIRONMENT, { version: 3, transactionId: id }, written);
  });
}

async function rows(table: string, order: string): Promise<Record<string, unknown>[]> {
  const found = await sql.unsafe<Record<string, unknown>[]>(
    `select to_jsonb(t) - 'environment_id' - 'customer_id' as row from svc.${table} as t order by ${order}`,
  );
  return found.map(({ row }) => row as Record<string, unknown>);
}

describe("svc_api.apply_evaluation", () => {
  it("does nothing for nothing", async () => {
    await apply({});
    expect(await rows("customers", "1")).toEqual([]);
  });

  it("keeps a row for each run of a journey, as it stands now", async () => {
    const run = {
      customerId: "c",
      journey: "trial",
      run: 1,
      status: "active" as const,
      currentStep: "look",
      steps: {},
      startedAt: AT,
      completedAt: null,
      expiredAt: null,
    };
    await apply({ journeys: [run] });
    const steps = { look: { completedAt: "2026-03-01T10:01:00.123Z", triggeredBy: "timer" } };
    await apply({
      journeys: [
        { ...run, status: "complete", steps, completedAt: LATER },
        { ...run, run: 2 },
      ],
    });
    expect(await rows("journey_runs", "run")).toEqual([
      {
        journey_id: "trial",
        run: 1,
        status: "complete",
        current_step: "look",
        steps,
        started_at: "2026-03-01T10:00:00.123+00:00",
        completed_at: "2026-03-01T10:01:00.123+00:00",
        expired_at: null,
      },
      expect.objectContaining({ run: 2, status: "active", steps: {} }),
    ]);
  });

  it("logs every health score, components in the author's order", async () => {
    const score = { customerId: "c", at: AT, band: "good", ...BY_EVENT };
    await apply({
      healthScores: [
        { ...score, overall: 66.67, components: { z: 100, a: 33.3 } },
        { ...score, overall: 100, components: { z: 100, a: 100 }, causeType: "timer", causeId: null },
      ],
    });
    expect(await rows("health_scores", "score_seq")).toMatchObject([
      { overall: 66.67, band: "good", cause_type: "event", cause_id: "evt_1", config_version: 3, generation: 0 },
      { overall: 100, cause_type: "timer", cause_id: null },
    ]);
    const [row] = await sql`select components::text from svc.health_scores order by score_seq`;
    expect(row).toEqual({ components: '{"z":100,"a":33.3}' });
  });

  it("logs every run of a rule, and its error", async () => {
    const run = {
      customerId: "c",
      rule: "upsell",
      triggeredBy: "event:paid",
      conditions: { text: "plan is pro", met: true },
      action: { type: "addToSegment", segment: "upsell" },
      error: null,
      at: AT,
      ...BY_EVENT,
    };
    await apply({
      ruleExecutions: [
        { ...run, result: "pass" },
        { ...run, result: "error", error: "no such thing", conditions: {} },
      ],
    });
    expect(await rows("rule_executions", "execution_seq")).toMatchObject([
      {
        rule_id: "upsell",
        result: "pass",
        triggered_by: "event:paid",
        conditions: run.conditions,
        action: run.action,
        error: null,
        executed_at: "2026-03-01T10:00:00.123+00:00",
        cause_id: "evt_1",
        config_version: 3,
      },
      { result: "error", error: "no such thing" },
    ]);
    await expect(apply({ ruleExecutions: [{ ...run, result: "error" }] })).rejects.toMatchObject({
      constraint_name: "rule_executions_error_said",
    });
  });

  it("keeps the present or last raise of a signal, and the last time a transition was blocked", async () => {
    const raise = {
      customerId: "c",
      signal: "quiet",
      severity: "warning",
      message: null,
      raisedAt: AT,
      clearedAt: null,
    };
    await apply({ signals: [raise], blocked: [{ customerId: "c", from: "a", to: "b", at: AT }] });
    await apply({
      signals: [{ ...raise, clearedAt: LATER }],
      blocked: [{ customerId: "c", from: "a", to: "b", at: LATER }],
    });
    expect(await rows("signals", "1")).toMatchObject([
      { raised_at: "2026-03-01T10:00:00.123+00:00", cleared_at: "2026-03-01T10:01:00.123+00:00" },
    ]);
    await apply({ signals: [{ ...raise, severity: "critical", message: "again", raisedAt: LATER }] });
    expect(await rows("signals", "1")).toMatchObject([{ severity: "critical", message: "again", cleared_at: null }]);
    expect(await rows("blocked_transitions", "1")).toEqual([
      { from_state: "a", to_state: "b", blocked_at: "2026-03-01T10:01:00.123+00:00" },
    ]);
  });
});
