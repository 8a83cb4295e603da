import { beforeAll, describe, expect, it } from "vitest";
import { count, emit, happened, rule, snapshotOf } from "../engine/support/builders.js";
import { expectTaken } from "./support/answers.js";
import { useSpec } from "./support/fixture.js";

// Section "States and transitions".

const fixture = useSpec();
beforeAll(() =>
  fixture.deploy(
    snapshotOf({
      events: Object.fromEntries(["signed_up", "used", "cancelled"].map((name) => [name, { properties: {} }])),
      traits: { plan: { type: "string" } },
      states: {
        new: [["trial", happened("signed_up")]],
        trial: [
          ["activated", count("used", "gte", 2)],
          ["churned", happened("cancelled")],
        ],
        activated: [["churned", happened("cancelled")]],
        churned: "terminal",
      },
      journeys: { adoption: { start: happened("signed_up"), steps: [["use", happened("used")]] } },
      rules: { notice: rule("used", emit("success.noticed"), { when: happened("signed_up"), once: true }) },
    }),
  ),
);

async function send(customerId: string, event: string, timestamp?: string) {
  const reply = await fixture.single({ customerId, event, ...(timestamp !== undefined && { timestamp }) });
  expectTaken(reply);
  return reply;
}

async function take(customerId: string, ...events: string[]): Promise<void> {
  for (const event of events) await send(customerId, event);
  await fixture.evaluate();
}

it("| Stored event status | `processed`, `pending` |: pending until it is evaluated, then processed", async () => {
  const reply = await send("status", "signed_up");
  expect((await fixture.storedEvent(reply)).status).toBe("pending");
  await fixture.evaluate();
  expect((await fixture.storedEvent(reply)).status).toBe("processed");
});

it("| Rule result | `pass`, `fail`, `skip`, `error` |: fail without its condition, then pass, then skip because it acts once", async () => {
  for (const event of ["used", "signed_up", "used", "used"]) await take("ruled", event);
  const rows = await fixture.service.db.sql`
    select result from svc_inspect.rule_executions where customer_id = 'ruled' order by execution_seq`;
  expect(rows.map(({ result }) => result as string)).toEqual(["fail", "pass", "skip"]);
});

it("| Journey status | `complete` (others not enumerated) |: once its last step is", async () => {
  await take("travelled", "signed_up", "used");
  const { journeys } = await fixture.customer("travelled");
  expect(journeys).toMatchObject([{ journeyId: "adoption", status: "complete" }]);
});

it("| Lifecycle states | names seen: `new`, `trial`, `activated`; terminal lifecycle states exist |: and are not left", async () => {
  for (const [events, state] of [
    [["used"], "new"],
    [["signed_up"], "trial"],
    [["signed_up", "used", "used"], "activated"],
    [["signed_up", "cancelled", "used", "used", "signed_up"], "churned"],
  ] as const) {
    await take(`in ${state}`, ...events);
    expect((await fixture.customer(`in ${state}`)).lifecycle).toBe(state);
  }
});

it("| Environments | `test`, `live` |: each has its own data, and there is no other", async () => {
  await fixture.single({ customerId: "there", event: "used" }, { Authorization: `Bearer ${fixture.keys.live}` });
  await fixture.evaluate("live");
  for (const [env, status] of Object.entries({ test: 404, live: 200, staging: 400 })) {
    expect((await fixture.admin("GET", `/projects/app/customers/there?env=${env}`)).status).toBe(status);
  }
});

describe("Late ingestion loads the customer's full retained history but starts from current derived state.", () => {
  it("a late event counts together with everything that was sent before", async () => {
    await take("late", "signed_up", "used");
    expect((await fixture.customer("late")).lifecycle).toBe("trial");
    await send("late", "used", "2020-01-01T00:00:00Z");
    await fixture.evaluate();
    expect((await fixture.customer("late")).lifecycle).toBe("activated");
  });

  it("a terminal lifecycle state stays, although a replay from zero would take another path", async () => {
    await take("ended", "signed_up", "cancelled");
    for (const day of ["01", "02"]) await send("ended", "used", `2020-01-${day}T00:00:00Z`);
    await send("ended", "signed_up", "2019-12-31T00:00:00Z");
    await fixture.evaluate();
    expect((await fixture.customer("ended")).lifecycle).toBe("churned");
    const rows = await fixture.service.db.sql`
      select to_state from svc_inspect.lifecycle_transitions where customer_id = 'ended' order by transition_seq`;
    expect(rows.map(({ to_state: state }) => state as string)).toEqual(["new", "trial", "churned"]);
  });
});
