import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Journey } from "../../../src/model/snapshot/types.js";
import { environmentId, envelope, snapshot, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
const get = (path: string) => service.request("GET", `/projects/app/customers/${path}`, { by: owner });

const login = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;
const journey = (id: string, steps: string[], more: Partial<Journey> = {}): Journey => ({
  id,
  start: login,
  steps: steps.map((step) => ({ id: step, when: login })),
  ...more,
});
const done = (at: string, by: string) => ({ completedAt: `2026-03-${at}`, triggeredBy: by });

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
  const journeys = [
    journey("onboarding", ["look", "try", "invite", "buy"], { repeat: true }),
    journey("other", ["one"]),
  ];
  const deployed = await service.request("POST", "/projects/app/config-versions", {
    by: owner,
    body: { snapshot: snapshot({ journeys }) },
  });
  expect(deployed.status).toBe(201);
  const { sql } = service.db;
  const id = await environmentId(sql, "app", "test");
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, config_version)
    values (${id}, 'ann', '2026-01-01Z', 1), (${id}, 'bob', '2026-01-01Z', null), (${id}, 'cy', '2026-01-01Z', 1)`;
  // "survey" was a step of an earlier version.
  await sql`
    insert into svc.journey_runs (
      environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at, expired_at
    )
    values
      (${id}, 'ann', 'onboarding', 1, 'expired', 'look', '{}', '2026-02-01Z', null, '2026-02-08Z'),
      (${id}, 'ann', 'onboarding', 2, 'complete', 'buy',
        ${JSON.stringify({ look: done("01T00:00:05.500Z", "evt_1"), buy: done("01T00:01:00.000Z", "timer") })}::text::json, '2026-03-01Z',
        '2026-03-01 00:01:00Z', null),
      (${id}, 'ann', 'onboarding', 3, 'active', 'try',
        ${JSON.stringify({ look: done("10T00:00:10.000Z", "evt_2"), invite: done("10T00:00:30.000Z", "evt_4"), survey: done("10T00:00:12.000Z", "evt_3") })}::text::json,
        '2026-03-10Z', null, null),
      (${id}, 'cy', 'retired', 1, 'active', 'a', '{}', '2026-03-10Z', null, null)`;
});
afterAll(() => service.stop());

describe("GET /projects/:project/customers/:customerId/journeys/:journeyId", () => {
  it("says how long each step took, since when the customer stands where it does, and how earlier runs went", async () => {
    const reply = await get("ann/journeys/onboarding");
    expect(reply.status).toBe(200);
    const { secondsOnCurrentStep, ...rest } = reply.body as { secondsOnCurrentStep: number };
    expect(secondsOnCurrentStep).toBeGreaterThan((Date.now() - Date.parse("2026-03-10T00:01:00Z")) / 1000);
    expect(secondsOnCurrentStep).toBeLessThanOrEqual((Date.now() - Date.parse("2026-03-10T00:00:10Z")) / 1000);
    expect(rest).toEqual({
      customerId: "ann",
      journeyId: "onboarding",
      status: "active",
      currentStep: "try",
      currentStepSince: "2026-03-10T00:00:10.000Z",
      run: 3,
      startedAt: "2026-03-10T00:00:00.000Z",
      completedAt: null,
      expiredAt: null,
      steps: [
        {
          stepId: "look",
          completedAt: "2026-03-10T00:00:10.000Z",
          triggeredBy: "evt_2",
          secondsFromStart: 10,
          secondsFromPrevious: 10,
        },
        { stepId: "try", completedAt: null, triggeredBy: null, secondsFromStart: null, secondsFromPrevious: null },
        {
          stepId: "invite",
          completedAt: "2026-03-10T00:00:30.000Z",
          triggeredBy: "evt_4",
          secondsFromStart: 30,
          secondsFromPrevious: 18,
        },
        { stepId: "buy", completedAt: null, triggeredBy: null, secondsFromStart: null, secondsFromPrevious: null },
        {
          stepId: "survey",
          completedAt: "2026-03-10T00:00:12.000Z",
          triggeredBy: "evt_3",
          secondsFromStart: 12,
          secondsFromPrevious: 2,
        },
      ],
      earlierRuns: [
        {
          run: 2,
          status: "complete",
          currentStep: "buy",
          startedAt: "2026-03-01T00:00:00.000Z",
          completedAt: "2026-03-01T00:01:00.000Z",
          expiredAt: null,
          steps: [
            {
              stepId: "look",
              completedAt: "2026-03-01T00:00:05.500Z",
              triggeredBy: "evt_1",
              secondsFromStart: 5.5,
              secondsFromPrevious: 5.5,
            },
            {
              stepId: "buy",
              completedAt: "2026-03-01T00:01:00.000Z",
              triggeredBy: "timer",
              secondsFromStart: 60,
              secondsFromPrevious: 54.5,
            },
          ],
        },
        {
          run: 1,
          status: "expired",
          currentStep: "look",
          startedAt: "2026-02-01T00:00:00.000Z",
          completedAt: null,
          expiredAt: "2026-02-08T00:00:00.000Z",
          steps: [],
        },
      ],
    });
  });

  it.each(["ann", "bob"])("knows a journey of the configuration that %s did not start", async (customerId) => {
    const reply = await get(`${customerId}/journeys/other`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      customerId,
      journeyId: "other",
      status: "not_started",
      currentStep: null,
      currentStepSince: null,
      secondsOnCurrentStep: null,
      run: null,
      startedAt: null,
      completedAt: null,
      expiredAt: null,
      steps: [
        { stepId: "one", completedAt: null, triggeredBy: null, secondsFromStart: null, secondsFromPrevious: null },
      ],
      earlierRuns: [],
    });
  });

  it("knows a journey that was started and is no longer in the configuration", async () => {
    expect(await get("cy/journeys/retired")).toMatchObject({
      status: 200,
      body: { status: "active", currentStep: "a", currentStepSince: "2026-03-10T00:00:00.000Z", steps: [] },
    });
  });

  it("answers JOURNEY_NOT_FOUND for one that is neither", async () => {
    for (const path of ["ann/journeys/retired", `bob/journeys/${"x".repeat(300)}`]) {
      const reply = await get(path);
      const name = path.includes("retired") ? "retired" : "x".repeat(256);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual(
        envelope("JOURNEY_NOT_FOUND", `There is no journey "${name}" for this customer.`, {
          reason:
            "The customer never started it, and it is not in the configuration that the customer was evaluated under.",
          fix: "Check the id and the environment; the state of the customer lists the journeys that it started.",
        }),
      );
    }
  });
});
