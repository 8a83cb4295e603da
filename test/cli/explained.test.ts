import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { cannedServer, json } from "./support/canned-server.js";
import { type RunOptions, svc } from "./support/run-svc.js";
import { type Shop, startShop } from "./support/shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const stdoutOf = async (argv: string[], options?: RunOptions) => {
  const { code, stdout, stderr } = await shop.run(argv, options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

// What these commands print where there is no terminal is in docs/walk.md, which walk.test.ts compares.

describe("svc customers inspect", () => {
  test("on a terminal, with signs in colour, and below the conditions what there is no room for beside them", async () => {
    const why = (await stdoutOf(["customers", "inspect", "globex"], { terminal: true })).split("Why")[1];
    expect(why).toMatchInlineSnapshot(`
      "[22m
        lifecycle: [36mactivated[39m
          to at_risk when
            [31m✗[39m no event for 21d
              [2mlast event <time> (3 days ago)[22m
              [2mcomes by itself in 17 days (<time>)[22m
        journey [36monboarding[39m: complete
        segment [36mpower_users[39m: a member
          [32m✓[39m all of 2, all are met
            [2mends by itself in 47 days (<time>)[22m
            [32m✓[39m plan is "pro"  [2mit is pro[22m
            [32m✓[39m count of "project_created" where seats at least 5 within 60d at least 2
              [2mit is 2[22m
              [2mends by itself in 47 days (<time>)[22m
        segment [36mbig_spenders[39m: a member
          [32m✓[39m sum of amount of "invoice_paid" within 90d at least 1000
            [2mit is 1200[22m
            [2mends by itself in 81 days (<time>)[22m
        health: what it is made of is told by svc health explain globex
        signal [36mescalation[39m: not raised
      "
    `);
  });

  test("with --json the state alone, and with --explain the explanation beside it", async () => {
    const state = await stdoutOf(["customers", "inspect", "hooli", "--json"]);
    const both = await stdoutOf(["customers", "inspect", "hooli", "--json", "--explain"]);
    const parsed = JSON.parse(both) as { state: object; explanation: object };
    expect(parsed.state).toEqual(JSON.parse(state));
    expect(parsed.explanation).toMatchObject({ customerId: "hooli", lifecycle: { state: "trial" }, unavailable: null });
  });
});

describe("svc health explain", () => {
  test("fits a terminal of 80 columns; with --json it is the document as the service gives it", async () => {
    const stdout = await stdoutOf(["health", "explain", "initech", "--no-color"], { terminal: true });
    expect(stdout.split("\n\n").at(-1)).toMatchInlineSnapshot(`
      "Component   Score  Weight    Points  Measured                               Now
      adoption       25     0.6  15 of 60  count of "project_created" within 60d  1
      commercial     30     0.4  12 of 40  plan                                   free
      "
    `);
    expect(JSON.parse(await stdoutOf(["health", "explain", "globex", "--json"]))).toMatchObject({
      score: { overall: 85, band: "healthy" },
      factors: { components: [{ component: "adoption", score: 75 }, { component: "commercial" }] },
    });
  });
});

describe("svc journeys inspect", () => {
  test("tells how long the steps of a complete journey took", async () => {
    expect(await stdoutOf(["journeys", "inspect", "globex", "onboarding"])).toMatchInlineSnapshot(`
      "onboarding of globex in test: complete

      Started    <time> (13 days ago)
      Completed  <time> (7 days ago)
      Lasted     6 days

      Step            Completed                   From start  From previous  Triggered by
      create_project  <time>       1 day          1 day  evt_<id>
      invite_team     <time>      6 days         5 days  evt_<id>
      "
    `);
  });

  test("leaves out what there is no room for", async () => {
    const narrow = await stdoutOf(["journeys", "inspect", "initech", "onboarding", "--no-color"], { terminal: true });
    expect(narrow.split("\n\n")[2]).toMatchInlineSnapshot(`
      "Step            Completed                   From start  From previous
      create_project  <time>       1 day          1 day
      invite_team
      Too narrow for: Triggered by."
    `);
  });

  test("with --json it is the document as the service gives it", async () => {
    const stdout = await stdoutOf(["journeys", "inspect", "globex", "onboarding", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "complete", run: 1, steps: [{}, {}], earlierRuns: [] });
  });
});

describe("svc segments inspect", () => {
  test("one that rules fill has no condition", async () => {
    const stdout = await stdoutOf(["segments", "inspect", "expansion"]);
    expect(stdout.split("\n\n")[1]).toBe("It has no condition: rules fill it.");
  });

  test("with --customer it tells whether that one is a member, and why", async () => {
    expect(await stdoutOf(["segments", "inspect", "expansion", "--customer", "globex"])).toMatchInlineSnapshot(`
      "globex in test
      segment expansion: a member
        It has no condition: rules fill it.
      "
    `);
    const stdout = await stdoutOf(["segments", "inspect", "big_spenders", "--customer", "globex", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      customerId: "globex",
      configVersion: "v1",
      segment: "big_spenders",
      member: true,
      condition: { actual: 1200, met: true },
    });
    expect(Object.keys(JSON.parse(stdout) as object)).not.toContain("lifecycle");
  });

  test("a segment or a customer that is not there", async () => {
    const asked = async (...argv: string[]) => (await shop.run(["segments", "inspect", ...argv])).stderr;
    expect(await asked("players", "--customer", "globex")).toContain("SEGMENT_NOT_FOUND");
    expect(await asked("power_users", "--customer", "nobody")).toContain("CUSTOMER_NOT_FOUND");
  });
});

/** Asks a service that gives these answers by the ends of their paths. */
async function canned(argv: string[], answers: Record<string, unknown>) {
  const { url } = await cannedServer({
    ...json({}, 500),
    respond: (request) => {
      const path = new URL(request.url, "http://x").pathname;
      const found = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1];
      return found === undefined
        ? json({ error: { code: "SERVICE_UNAVAILABLE", message: "Too \u001b[2Jmuch to do." } }, 503)
        : json(found);
    },
  });
  return svc([...argv, "--project", "shop"], { at: url });
}

const ABOUT = {
  customerId: "cus_42",
  asOf: "2026-03-14T09:00:00.000Z",
  configVersion: "v2",
  activeVersion: "v2",
  pending: 0,
  setAside: null,
  unavailable: null,
  flipsKnown: true,
};
const NOTHING = { ...ABOUT, lifecycle: null, journeys: [], segments: [], health: null, signals: [] };

const RUN = {
  customerId: "cus_42",
  journeyId: "review",
  status: "active",
  currentStep: "plan",
  currentStepSince: "2026-03-10T10:00:00.000Z",
  secondsOnCurrentStep: 345_600,
  run: 3,
  startedAt: "2026-03-10T10:00:00.000Z",
  completedAt: null,
  expiredAt: null,
  steps: [{ stepId: "plan", completedAt: null, triggeredBy: null, secondsFromStart: null, secondsFromPrevious: null }],
  earlierRuns: [
    {
      run: 2,
      status: "expired",
      currentStep: "plan",
      startedAt: "2026-01-01T10:00:00.000Z",
      completedAt: null,
      expiredAt: "2026-01-31T10:00:00.000Z",
      steps: [],
    },
    {
      run: 1,
      status: "complete",
      currentStep: "decide",
      startedAt: "2025-12-01T10:00:00.000Z",
      completedAt: "2025-12-01T10:00:00.250Z",
      expiredAt: null,
      steps: [],
    },
  ],
};

test("earlier runs of a journey are listed; where nobody can tell why, that is said beside the result", async () => {
  expect(await canned(["journeys", "inspect", "cus_42", "review"], { "/journeys/review": RUN })).toMatchInlineSnapshot(`
    ! Why it is so cannot be told for the moment: Too \\u001b[2Jmuch to do.
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

test("a journey that did not start tells what it waits for", async () => {
  const run = { ...RUN, status: "not_started", run: null, startedAt: null, earlierRuns: [], steps: [] };
  const start = {
    kind: "segment",
    text: 'in segment "payers"',
    expected: "member",
    actual: "not a member",
    met: false,
    missing: "member",
    flipsAt: null,
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
      When conditions change by themselves is not known: too much history would have to be read.
      begins when
        unmet in segment "payers"
    "
  `);
});

test("a customer without a score is told in words", async () => {
  const unavailable = {
    code: "no_health",
    message: "The version v2, under which the customer's state was computed, has no health score.",
  };
  const answers = { "/health": { ...ABOUT, score: null, factors: null, unavailable } };
  expect((await canned(["health", "explain", "cus_42"], answers)).stdout).toMatchInlineSnapshot(`
    "cus_42 in test: no health score

    The version v2, under which the customer's state was computed, has no health score.
    "
  `);
});

test("members of a segment that the active version does not define are shown all the same", async () => {
  const answers = {
    "/old": {
      segment: "old",
      members: 1,
      definition: null,
      data: [{ customerId: "cus_42", enteredAt: "2026-03-10T10:00:00.000Z" }],
      nextCursor: null,
    },
  };
  expect((await canned(["segments", "inspect", "old"], answers)).stdout).toMatchInlineSnapshot(`
    "old in test: 1 member

    The active version does not define it.

    Customer  Entered
    cus_42    2026-03-10 11:00:00 +01:00  4 days ago
    "
  `);
});
