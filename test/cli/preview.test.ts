import { beforeEach, expect, test } from "vitest";

import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { project } from "../dsl-compiler/project.js";
import { type Difference, difference } from "../http/admin/support/recomputes.js";
import { environmentId } from "../support/service.js";
import { useOwner } from "./support/owner.js";
import { standIn } from "./support/recompute-worker.js";
import { type RunOptions, steady } from "./support/run-svc.js";

const MODEL = `
  import { defineModel, event, segment } from "svc-success";
  const paid = event("paid");
  export default defineModel({ events: { paid }, segments: [segment("payers", { when: paid.happened() })] });`;

const service = useOwner();
const worker = standIn(service, () => slug);
let slug = "";
let projects = 0;
let cwd: string;
beforeEach(async () => {
  slug = `p${projects++}`;
  await service.addProject(slug);
  cwd = await project({ "svc.config.ts": MODEL, ".kite/config.json": JSON.stringify({ project: slug }) });
});

/** Runs `svc deploy --preview …`; replaces what differs from run to run. */
async function preview(argv: string[] = [], options: RunOptions = {}) {
  const result = await service.svc(["deploy", "--preview", ...argv], { cwd, ...options });
  const shown = steady(result, [
    [/prv_[0-9a-f]{20}/g, "prv_<id>"],
    [/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d \+\d\d:\d\d)?/g, "<instant>"],
    [/model [0-9a-f]{12}/g, "model <hash>"],
  ]);
  return { ...shown, raw: result.stdout };
}

/** Runs a preview that a worker completes. */
async function completed(argv: string[], ...results: Parameters<typeof worker.complete>) {
  const [result] = await Promise.all([preview(argv), worker.complete(...results)]);
  expect(result.code).toBe(0);
  return result;
}

async function addCustomers(count: number): Promise<void> {
  await service.db.sql`
    insert into svc.customers (environment_id, customer_id, created_at)
    select e.environment_id, 'c' || n, now() from generate_series(1, ${count}) as n, svc.environments as e
    join svc.projects as p on p.project_id = e.project_id where p.slug = ${slug} and e.name = 'test'`;
}

const AT = "2026-03-02T10:00:00.000Z";
const emission = (eventType: string) => ({ eventType, source: "lifecycle", metadata: {}, timestamp: AT });
const raised = (signal: string) => ({ ...emission("signal.raised"), source: "signal", metadata: { signal } });
const ran = { ruleId: "win_back", triggeredBy: "event:paid", conditions: {}, action: {}, executedAt: AT };
const score = (overall: number) => ({ overall, components: { usage: overall } });
const journey = (status: string) => ({
  ...{ journeyId: "onboarding", status, currentStep: "invite", stepsData: {} },
  ...{ startedAt: AT, completedAt: null, expiredAt: null },
});

const DIFFERENCES: Difference[] = [
  difference(
    "globex",
    {
      ...{ health: { before: score(81.5), after: score(40) }, segments: { before: ["trial"], after: ["paying"] } },
      journeys: { before: [journey("active")], after: [journey("complete")] },
      rules: ["error", "pass"].map((result) => ({ ...ran, result })),
      emissions: [emission("customer.activated"), emission("segment.entered"), raised("quiet")],
      emissionsOmitted: 12,
    },
    9,
  ),
  difference(
    "initech | <b>@ada</b> `x`",
    {
      ...{ health: { before: score(20), after: score(60) }, segments: { before: [], after: ["paying"] } },
      emissions: [emission("segment.entered"), emission("segment.entered"), raised("quiet"), raised("outgrowing")],
    },
    8,
  ),
  difference(
    "umbrella",
    {
      ...{ lifecycle: { before: "activated", after: "churned" }, health: { before: null, after: null } },
      segments: { before: ["paying"], after: [] },
      signals: { before: ["quiet"], after: ["quiet"], changed: ["quiet"] },
    },
    7,
  ),
];
const TOTALS =
  "lifecycle_changed = 3, health_changed = 2, segments_entered = 2, segments_exited = 2, signals_raised = 1, signals_cleared = 3, rules_added = 2, rules_removed = 16, emissions_added = 16";

test("a preview shows who enters and leaves, who moves and what would be emitted, and deploys nothing", async () => {
  const { stdout, stderr } = await completed([], DIFFERENCES, TOTALS);
  expect(stderr).toBe("Queued prv_<id>. Ctrl+C stops waiting for it; it changes nothing.\n");
  expect(stdout).toMatchInlineSnapshot(`
    "Preview prv_<id> of this model for test of p0; nothing was deployed.

    Status         completed in 12 seconds
    Compared with  no model: none is deployed
    As of          <instant>
    Looked at      3 customers
    Customers      3 would change
    Lifecycle      3 customers would move
    Health         2 customers would change
    Segments       2 would enter, 2 would leave
    Signals        1 would be raised, 3 would be cleared
    Rules          2 runs would be added to the log, 16 would go
    Emissions      16 would be emitted

    Segment  Enter  Leave  For example
    paying       2      1  +globex, +initech | <b>@ada</b> \`x\`, -umbrella
    trial        0      1  -globex

    Lifecycle            Customers  For example
    trial → activated            2  globex, initech | <b>@ada</b> \`x\`
    activated → churned          1  umbrella

    Health 1 rise, 1 fall
    globex 81.5 → 40, initech | <b>@ada</b> \`x\` 20 → 60

    Severity or message of  Customers  For example
    quiet                           1  umbrella

    Journey     Customers  For example
    onboarding          1  globex

    Rule      Runs             Customers  For example
    win_back  1 pass, 1 error          1  globex

    Emission                  Times  Customers  For example
    segment.entered               3          2  globex, initech | <b>@ada</b> \`x\`
    signal.raised quiet           2          2  globex, initech | <b>@ada</b> \`x\`
    customer.activated            1          1  globex
    signal.raised outgrowing      1          1  initech | <b>@ada</b> \`x\`

    Not in the tables, of customers with more than 1,000: 12 emissions.
    "
  `);
  expect((await service.ask("GET", `/projects/${slug}/config-versions`)).body).toMatchObject({ data: [] });
});

test("--markdown makes a comment in which customer ids are plain text", async () => {
  await addCustomers(20);
  const { stdout } = await completed(["--markdown", "--sample", "3"], DIFFERENCES, TOTALS);
  expect(stdout).toMatchInlineSnapshot(`
    "### What this model would change in test of \`p1\`

    Compared with no model, because none is deployed, as of <instant> UTC, over 3 customers, a sample. Nothing was deployed.

    |  |  |
    | --- | --- |
    | Customers | 3 would change |
    | Lifecycle | 3 customers would move |
    | Health | 2 customers would change |
    | Segments | 2 would enter, 2 would leave |
    | Signals | 1 would be raised, 3 would be cleared |
    | Rules | 2 runs would be added to the log, 16 would go |
    | Emissions | 16 would be emitted |

    #### Segments

    | segment | enter | leave | who enters | who leaves |
    | --- | --- | --- | --- | --- |
    | \`paying\` | 2 | 1 | \`globex\`, \`\` initech \\| <b>@ada</b> \`x\` \`\` | \`umbrella\` |
    | \`trial\` | 0 | 1 |  | \`globex\` |

    #### Lifecycle

    | from | to | customers | for example |
    | --- | --- | --- | --- |
    | \`trial\` | \`activated\` | 2 | \`globex\`, \`\` initech \\| <b>@ada</b> \`x\` \`\` |
    | \`activated\` | \`churned\` | 1 | \`umbrella\` |

    #### Health

    1 rise, 1 fall.

    #### Health of those that change most

    | customer | score |
    | --- | --- |
    | \`globex\` | 81.5 → 40 |
    | \`\` initech \\| <b>@ada</b> \`x\` \`\` | 20 → 60 |

    #### Journeys

    | journey | customers | for example |
    | --- | --- | --- |
    | \`onboarding\` | 1 | \`globex\` |

    #### Severity or message of signals

    | signal | customers | for example |
    | --- | --- | --- |
    | \`quiet\` | 1 | \`umbrella\` |

    #### Rules

    | rule | runs | customers | for example |
    | --- | --- | --- | --- |
    | \`win_back\` | 1 pass, 1 error | 1 | \`globex\` |

    #### Emissions

    | type | times | customers | for example |
    | --- | --- | --- | --- |
    | \`segment.entered\` | 3 | 2 | \`globex\`, \`\` initech \\| <b>@ada</b> \`x\` \`\` |
    | \`signal.raised quiet\` | 2 | 2 | \`globex\`, \`\` initech \\| <b>@ada</b> \`x\` \`\` |
    | \`customer.activated\` | 1 | 1 | \`globex\` |
    | \`signal.raised outgrowing\` | 1 | 1 | \`\` initech \\| <b>@ada</b> \`x\` \`\` |

    Not in the tables, of customers with more than 1,000: 12 emissions.

    <sub>svc deploy --preview: prv_<id>, model <hash></sub>
    "
  `);
});

test("a sample at least as large as the population is called all customers", async () => {
  const looked = async (sample: string) => {
    const { stdout } = await completed(["--sample", sample], DIFFERENCES, TOTALS);
    return /Looked at +(.*)/.exec(stdout)?.[1];
  };
  await addCustomers(4);
  expect(await looked("3")).toBe("3 customers, a sample");
  expect(await looked("4")).toBe("3 customers");
  expect(await looked("1000000000")).toBe("3 customers");
});

test("--json has every customer and the totals", async () => {
  const { raw } = await completed(["--json", "--sample", "1000"], DIFFERENCES, TOTALS);
  const customers = DIFFERENCES.map(({ document }) => document);
  const { result, ...job } = JSON.parse(raw) as { result: { impact: object } };
  expect(job).toMatchObject({ status: "completed", dry_run: true, sample: 1000 });
  expect(result).toMatchObject({ customersChanged: 3, customers });
  expect(result.impact).toMatchObject({
    segments: [{ segmentId: "paying", entered: { customers: 2 }, exited: { examples: ["umbrella"] } }, {}],
    lifecycle: [{ from: "trial", to: "activated", customers: 2 }, {}],
    health: { rises: 1, falls: 1, examples: [{ customerId: "globex", before: 81.5, after: 40 }, {}] },
    journeys: [{ journeyId: "onboarding", customers: 1 }],
    rules: [{ ruleId: "win_back", runs: { pass: 1, error: 1 }, customers: 1 }],
    emissions: [
      { eventType: "segment.entered", emissions: 3, customers: 2 },
      { eventType: "signal.raised", signal: "quiet", emissions: 2, customers: 2 },
      { eventType: "customer.activated", emissions: 1, customers: 1 },
      { eventType: "signal.raised", signal: "outgrowing", emissions: 1, customers: 1 },
    ],
    emissionsOmitted: 12,
  });
});

test("says so if no customer would change", async () => {
  expect((await completed([], [])).stdout).toContain("No customer would change.\n");
  expect((await completed(["--markdown"], [])).stdout).toContain("**No customer would change.**");
});

test("does not count a journey as changed whose steps only come in another order", async () => {
  const step = { completedAt: AT, triggeredBy: "timer" };
  const orders = [
    { invite: step, pay: step },
    { pay: step, invite: step },
  ];
  const [before, after] = orders.map((stepsData) => [{ ...journey("complete"), stepsData }]);
  const changed = difference("globex", {
    segments: { before: [], after: ["paying"] },
    journeys: { before: before!, after: after! },
  });
  const { stdout } = await completed([], [changed]);
  expect(stdout).toContain("paying");
  expect(stdout).not.toContain("onboarding");
});

test("shows the totals if only runs of rules would go", async () => {
  for (const argv of [[], ["--markdown"]]) {
    const { stdout } = await completed(argv, [], "rules_removed = 500");
    expect(stdout).toContain("0 runs would be added to the log, 500 would go");
    expect(stdout).not.toContain("No customer would change.");
  }
});

test("says that retention has removed a part of the history, also if no customer would change", async () => {
  const removed = "exact_from = '2026-01-02T03:04:05.678Z'";
  expect((await completed([], [], removed)).stdout).toMatch(/History +retention has removed .* before <instant>,/);
  expect((await completed(["--markdown"], [], removed)).stdout).toContain(
    "Note: retention has removed operations that were accepted before <instant> UTC, so their effects are missing.",
  );
});

test("reasons why a deploy would be refused come first", async () => {
  const snapshot = { ...EMPTY_SNAPSHOT, segments: [{ id: "lookers" }] };
  expect((await service.ask("POST", `/projects/${slug}/config-versions`, { snapshot })).status).toBe(201);
  await service.db.sql`
    insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
    values (${await environmentId(service.db.sql, slug, "test")}, 'lookers', 'globex', now())`;
  const refused = [{ code: "SEGMENT_REMOVED", message: 'The segment "lookers" is removed, and 1 customer is in it.' }];
  expect((await completed([], [])).stdout).toContain(`nothing was deployed.

A deploy is refused because of these, unless it is forced (--force):
warning SEGMENT_REMOVED ${refused[0]!.message}
`);
  expect((await completed(["--markdown"], [])).stdout).toContain(`Nothing was deployed.

#### A deploy is refused without \`--force\`

| warning | why |
| --- | --- |
| \`SEGMENT_REMOVED\` | \`${refused[0]!.message}\` |
`);
  const { warnings } = JSON.parse((await completed(["--json"], [])).raw) as { warnings: object };
  expect(warnings).toMatchObject(refused);
});

test("a comment names only some of many customers, and stays short whatever the names are", async () => {
  const some = Array.from({ length: 300 }, (_, n) => difference(`c${String(n).padStart(3, "0")}`));
  expect((await completed(["--markdown"], some, "lifecycle_changed = 300")).stdout).toContain(
    "| `trial` | `activated` | 300 | `c000`, `c001`, `c002`, `c003`, `c004` and 295 more |",
  );
  const segments = Array.from({ length: 100 }, (_, n) => `segment_${n}_${"s".repeat(100)}`);
  const named = Array.from({ length: 5 }, (_, n) =>
    difference(`${n}${"\u{1f600}|".repeat(100)}`, { segments: { before: [], after: segments } }),
  );
  const { stdout } = await completed(["--markdown"], named);
  expect(stdout).toContain("And 80 more.");
  expect(stdout.length).toBeLessThan(30_000);
});

test("sends the model and the sample", async () => {
  await completed(["--env", "live", "--sample", "17"], []);
  const [row] = await service.db.sql`
    select r.sample_size, r.snapshot -> 'segments' -> 0 ->> 'id' as segment, e.name from svc.recomputes as r
    join svc.environments as e on e.environment_id = r.environment_id join svc.projects as p on p.project_id = e.project_id
    where p.slug = ${slug}`;
  expect(row).toEqual({ sample_size: 17, segment: "payers", name: "live" });
});

test("reports a preview that failed, and refuses --markdown with --json and a model with errors", async () => {
  const error = "The model reads an event that is not there.";
  const giveUp = worker
    .next()
    .then((id) => worker.write(id, `status = 'dead_letter', finished_at = now(), error = '${error}'`));
  const [{ code, stdout, stderr }] = await Promise.all([preview(), giveUp]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(`error [DEAD_LETTER]: ${error} Fix the cause, then preview the model again.\n`);
  const both = await preview(["--markdown", "--json"]);
  expect(both.code).toBe(2);
  expect(both.stdout).toContain("--markdown and --json exclude each other");
  const broken = await project({ "svc.config.ts": "export default 7;" });
  expect((await preview(["--project", slug], { cwd: broken })).stderr).toContain("error [CONFIG_INVALID]");
});
