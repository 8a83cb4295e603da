import { expect, test } from "vitest";

import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

/** Runs a command at a service with these answers, by the ends of request paths. */
async function canned(argv: string[], answers: Record<string, unknown>) {
  const { url } = await cannedServer((request) => {
    const path = new URL(request.url, "http://x").pathname;
    const found = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1];
    return found === undefined
      ? json({ error: { code: "SERVICE_UNAVAILABLE", message: "Too \u001b[2Jmuch to do." } }, 503)
      : json(found);
  });
  return svc([...argv, "--project", "shop"], { at: url });
}

const ABOUT = {
  ...{ customerId: "cus_42", asOf: "2026-03-14T09:00:00.000Z", configVersion: "v2", activeVersion: "v2" },
  ...{ pending: 0, setAside: null, unavailable: null, flipsKnown: true },
};
const NOTHING = { ...ABOUT, lifecycle: null, journeys: [], segments: [], health: null, signals: [] };

const STARTED = "2026-03-10T10:00:00.000Z";
const RUN = {
  ...{ customerId: "cus_42", journeyId: "review", status: "active", run: 3, startedAt: STARTED },
  ...{ completedAt: null, expiredAt: null, currentStep: "plan", currentStepSince: STARTED },
  secondsOnCurrentStep: 345_600,
  steps: [{ stepId: "plan", completedAt: null, triggeredBy: null, secondsFromStart: null, secondsFromPrevious: null }],
  earlierRuns: [
    {
      ...{ run: 2, status: "expired", currentStep: "plan", completedAt: null, steps: [] },
      ...{ startedAt: "2026-01-01T10:00:00.000Z", expiredAt: "2026-01-31T10:00:00.000Z" },
    },
    {
      ...{ run: 1, status: "complete", currentStep: "decide", expiredAt: null, steps: [] },
      ...{ startedAt: "2025-12-01T10:00:00.000Z", completedAt: "2025-12-01T10:00:00.250Z" },
    },
  ],
};

test("earlier runs of a journey are listed; if no explanation is available, a note with the result says so", async () => {
  expect(await canned(["journeys", "inspect", "cus_42", "review"], { "/journeys/review": RUN })).toMatchInlineSnapshot(`
    ! The explanation is not available at the moment: Too \\u001b[2Jmuch to do.
    review of cus_42 in test: active in run 3

    Started       2026-03-10 11:00:00 +01:00 (4 days ago)
    Current step  plan since 2026-03-10 11:00:00 +01:00 (for 4 days)

    Step  Completed  From start  From previous  Triggered by
    plan

    Earlier runs
    Run  Status    Started                             Lasted  Last step
      2  expired   2026-01-01 11:00:00 +01:00         30 days  plan
      1  complete  2025-12-01 11:00:00 +01:00  under a second  decide
  `);
});

test("a journey that did not start shows what it waits for", async () => {
  const run = { ...RUN, status: "not_started", run: null, startedAt: null, earlierRuns: [], steps: [] };
  const start = {
    ...{ kind: "segment", text: 'in segment "payers"', expected: "member", actual: "not a member" },
    ...{ met: false, missing: "member", flipsAt: null },
  };
  const journeys = [
    { journey: "review", status: "not_started", start, steps: [{ step: "plan", completed: false, condition: null }] },
  ];
  const answers = {
    "/journeys/review": run,
    "/explanation": { ...NOTHING, journeys, activeVersion: "v3", flipsKnown: false },
  };
  expect((await canned(["journeys", "inspect", "cus_42", "review"], answers)).stdout).toMatchInlineSnapshot(`
    "review of cus_42 in test: not started

    What it waits for
      As of v2, under which the state was computed; v3 is active now.
      When conditions will change by themselves is not known: too much history would have to be read.
      begins when
        unmet in segment "payers"
    "
  `);
});

test("a customer without a score is described in words", async () => {
  const unavailable = { code: "no_health", message: "The version v2 has no health score." };
  const answers = { "/health": { ...ABOUT, score: null, factors: null, unavailable } };
  expect((await canned(["health", "explain", "cus_42"], answers)).stdout).toMatchInlineSnapshot(`
    "cus_42 in test: no health score

    The version v2 has no health score.
    "
  `);
});

test("members of a segment that the active version does not define are still shown", async () => {
  const data = [{ customerId: "cus_42", enteredAt: STARTED }];
  const old = { segment: "old", members: 1, definition: null, data, nextCursor: null };
  expect((await canned(["segments", "inspect", "old"], { "/old": old })).stdout).toMatchInlineSnapshot(`
    "old in test: 1 member

    The active version does not define it.

    Customer  Entered
    cus_42    2026-03-10 11:00:00 +01:00  4 days ago
    "
  `);
});

const leaf = (kind: string, text: string, expected: unknown, actual: unknown, more: object) => ({
  ...{ kind, text, expected, actual, met: false, flipsAt: null },
  ...more,
});
const group = (
  kind: string,
  expected: unknown,
  actual: unknown,
  conditions: object[],
  flipsAt: string | null = null,
) => ({
  ...{ kind, text: "…", expected, actual, met: false, missing: ["…"], flipsAt },
  conditions,
});
const CONDITION = group(
  "all",
  3,
  1,
  [
    leaf("trait", 'plan is "pro"', "pro", "pro", { met: true, missing: null }),
    group("any", 1, 0, [
      leaf("inactiveFor", "no event for 21d", "no event for 21d", "last event 2026-03-12T10:00:00.000Z", {
        missing: "19d",
        flipsAt: "2026-04-02T10:00:00.000Z",
      }),
      leaf("traitDateWithin", "renews_on within 14d", "within 14d", "2026-05-01T00:00:00.000Z", {
        missing: "within 14d",
        flipsAt: "2026-04-17T00:00:00.000Z",
      }),
      leaf("health", "health of adoption less than 40", "less than 40", 62.5, { missing: "less than -22.5" }),
      leaf("count", 'count of "login" within 7d at most 2', "at most 2", "3 or more", { missing: -1 }),
      leaf("latest", 'latest of note of "a" exists', "exists", null, { missing: "exists" }),
    ]),
    group("not", false, true, [
      leaf("lifecycle", "lifecycle is one of trial, new", ["trial", "new"], "trial\u001b[2J", {
        met: true,
        missing: null,
      }),
    ]),
  ],
  "2026-03-20T10:00:00.000Z",
);

test("a condition of many parts is shown as a tree, with foreign control characters escaped", async () => {
  const run = {
    ...{ customerId: "cus_42", ruleId: "upsell", result: "fail", triggeredBy: "event:invoice_paid" },
    ...{ executedAt: "2026-03-14T09:00:00.000Z", cause: { type: "timer", id: null }, configVersion: null, error: null },
    conditions: CONDITION,
    action: { type: "emit", eventType: "plan.reviewed" },
  };
  const failed = { ...run, result: "error", error: "RangeError: too much", conditions: {}, action: undefined };
  const { url } = await cannedServer(json({ data: [run, failed], nextCursor: null }));
  expect((await svc(["rules", "logs", "--detail", "--project", "shop"], { at: url })).stdout).toMatchInlineSnapshot(`
    "2026-03-14 10:00:00 +01:00  upsell for cus_42: fail, its condition was unmet
      triggered by event:invoice_paid (timer)
      unmet all of 3, 1 of them met  comes by itself in 6 days (2026-03-20 11:00:00 +01:00)
        met   plan is "pro"  it is pro
        unmet any of 5, none is met
          unmet no event for 21d  last event 2026-03-12 11:00:00 +01:00 (2 days ago); comes by itself in 19 days (2026-04-02 12:00:00 +02:00)
          unmet renews_on within 14d  it is 2026-05-01 (in 47 days); comes by itself in 33 days (2026-04-17 02:00:00 +02:00)
          unmet health of adoption less than 40  it is 62.5; more than 22.5 too high
          unmet count of "login" within 7d at most 2  it is 3 or more; 1 too many
          unmet latest of note of "a" exists  there is none
        unmet not
          met   lifecycle is one of trial, new  it is trial\\u001b[2J
      would: emit "plan.reviewed"

    2026-03-14 10:00:00 +01:00  upsell for cus_42: error, it could not be run
      triggered by event:invoice_paid (timer)
      RangeError: too much
    "
  `);
});
