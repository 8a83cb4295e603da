import { beforeAll, describe, expect, it } from "vitest";
import type { Journey } from "../../../src/model/snapshot/types.js";
import { snapshot } from "../../support/service.js";
import { refused, useApi } from "./support/api.js";

const api = useApi();
const read = <T>(path: string) => api.read<T>(`/customers/${path}`);

const login = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;
const journey = (id: string, steps: string[], more: Partial<Journey> = {}): Journey => ({
  id,
  start: login,
  steps: steps.map((step) => ({ id: step, when: login })),
  ...more,
});
const done = (at: string, by: string) => ({ completedAt: `2026-03-${at}`, triggeredBy: by });

beforeAll(async () => {
  const journeys = [
    journey("onboarding", ["look", "try", "invite", "buy"], { repeat: true }),
    journey("other", ["one"]),
  ];
  expect(await api.post("/config-versions", { snapshot: snapshot({ journeys }) })).toMatchObject({ status: 201 });
  const { sql } = api;
  const id = await api.environmentId();
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

/** A step as shown: when it was done, by what, and how long it took; or not yet done. */
const step = (stepId: string, at?: string, triggeredBy?: string, fromStart?: number, fromPrevious?: number) => ({
  stepId,
  completedAt: at === undefined ? null : `2026-03-${at}`,
  triggeredBy: triggeredBy ?? null,
  secondsFromStart: fromStart ?? null,
  secondsFromPrevious: fromPrevious ?? null,
});

/** A run without a step done. */
const run = (run: number | null, status: string, currentStep: string | null, startedAt: string | null) => {
  return { run, status, currentStep, startedAt, completedAt: null, expiredAt: null, stepsData: {}, steps: [] };
};

/** The steps as stored with a run. */
const stepsData = (...done: ReturnType<typeof step>[]) =>
  Object.fromEntries(done.map(({ stepId, completedAt, triggeredBy }) => [stepId, { completedAt, triggeredBy }]));

describe("GET /projects/:project/customers/:customerId/journeys/:journeyId", () => {
  it("shows how long each step took, since when the customer is at its step, and how earlier runs ended", async () => {
    const { secondsOnCurrentStep, ...rest } = await read<{ secondsOnCurrentStep: number }>("ann/journeys/onboarding");
    expect(secondsOnCurrentStep).toBeGreaterThan((Date.now() - Date.parse("2026-03-10T00:01:00Z")) / 1000);
    expect(secondsOnCurrentStep).toBeLessThanOrEqual((Date.now() - Date.parse("2026-03-10T00:00:10Z")) / 1000);
    const look = step("look", "10T00:00:10.000Z", "evt_2", 10, 10);
    const invite = step("invite", "10T00:00:30.000Z", "evt_4", 30, 18);
    const survey = step("survey", "10T00:00:12.000Z", "evt_3", 12, 2);
    const earlier = [
      step("look", "01T00:00:05.500Z", "evt_1", 5.5, 5.5),
      step("buy", "01T00:01:00.000Z", "timer", 60, 54.5),
    ];

    expect(rest).toEqual({
      ...run(3, "active", "try", "2026-03-10T00:00:00.000Z"),
      customerId: "ann",
      journeyId: "onboarding",
      currentStepSince: "2026-03-10T00:00:10.000Z",
      stepsData: stepsData(look, invite, survey),
      steps: [look, step("try"), invite, step("buy"), survey],
      earlierRuns: [
        {
          ...run(2, "complete", "buy", "2026-03-01T00:00:00.000Z"),
          completedAt: "2026-03-01T00:01:00.000Z",
          stepsData: stepsData(...earlier),
          steps: earlier,
        },
        { ...run(1, "expired", "look", "2026-02-01T00:00:00.000Z"), expiredAt: "2026-02-08T00:00:00.000Z" },
      ],
    });
  });

  it("shows configured journeys that were not started, and started ones of any configuration, but no others", async () => {
    const nowhere = { currentStepSince: null, secondsOnCurrentStep: null, steps: [step("one")], earlierRuns: [] };
    for (const customerId of ["ann", "bob"])
      expect(await read(`${customerId}/journeys/other`)).toEqual({
        ...run(null, "not_started", null, null),
        ...{ customerId, journeyId: "other", ...nowhere },
      });
    const stands = { status: "active", currentStep: "a", currentStepSince: "2026-03-10T00:00:00.000Z", steps: [] };
    expect(await read("cy/journeys/retired")).toMatchObject(stands);
    for (const path of ["ann/journeys/retired", `bob/journeys/${"x".repeat(300)}`]) {
      const message = `There is no journey "${path.slice("ann/journeys/".length).slice(0, 256)}" for this customer.`;
      expect(await api.get(`/customers/${path}`)).toMatchObject(refused(404, "JOURNEY_NOT_FOUND", { message }));
    }
  });
});

it("a run that began in the near future by its sender's clock has been at its step for 0 seconds", async () => {
  const { sql } = api;
  await sql`
    insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
    values (${await api.environmentId()}, 'cy', 'other', 1, 'active', 'one', '{}', now() + interval '4 minutes')`;
  expect(await read("cy/journeys/other")).toMatchObject({ status: "active", secondsOnCurrentStep: 0 });
});

it("a journey no longer in the model is listed without steps if all of its runs are complete", async () => {
  const { sql } = api;
  await sql`
    insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at)
    values (${await api.environmentId()}, 'ann', 'former', 1, 'complete', 'last', '{}', '2026-03-01Z', '2026-03-02Z')`;
  const { journeys } = await api.read<{ journeys: { journeyId: string }[] }>("/journeys");
  expect(journeys.find(({ journeyId }) => journeyId === "former")).toEqual({
    ...{ journeyId: "former", declared: false, active: 0, complete: 1, expired: 0 },
    steps: [],
  });
});
