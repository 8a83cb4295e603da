import { expect, test } from "vitest";

import type { Finding } from "../../src/http/admin/answers.js";
import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

const VIOLATION = {
  ...{ event: "order", code: "INVALID_PROPERTY_TYPE", path: "properties.amount", operations: 1_200 },
  ...{ firstSeenAt: "2026-03-01T09:30:00.000Z", lastSeenAt: "2026-03-14T09:30:00.000Z" },
  ...{ lastEventId: "evt_0000000000000400", lastCustomerId: "cus_42" },
};

function violations(list: object[]): Finding {
  return {
    code: "SCHEMA_VIOLATIONS",
    severity: "warning",
    message: "Accepted operations violate the schema of the active version v4 in 1 way.",
    fix: "Correct the sender, or declare these values in the model and deploy it.",
    count: list.length,
    details: { operations: 1_200, violations: list },
  };
}

const FINDINGS: Finding[] = [
  {
    ...{ code: "CUSTOMERS_SET_ASIDE", severity: "problem", count: 1 },
    message: "1 customer is set aside because evaluation failed; their operations wait.",
    fix: "See why: svc customers list --set-aside --env test.",
    details: { customers: [{ customerId: "cus_1", at: "2026-03-14T09:30:00.000Z", error: "Error: no" }] },
  },
  {
    ...{ code: "OPERATIONS_WAITING", severity: "problem", count: 5 },
    message: "5 operations wait to be evaluated, the oldest for 90 seconds.",
    fix: "Check that a worker runs.",
    details: { oldestAcceptedAt: "2026-03-14T09:30:00.000Z", seconds: 90 },
  },
  violations([VIOLATION]),
  {
    ...{ code: "STATES_NEVER_REACHED", severity: "info", count: 2 },
    message: "2 lifecycle states were never reached by any customer.",
    fix: "Look at the conditions of the transitions that lead there.",
    details: { states: ["won", "lost"] },
  },
];

async function diagnose(data: object[], ...options: string[]) {
  const { url, seen } = await cannedServer(json({ data }));
  const result = await svc(["diagnose", "--project", "shop", ...options], { at: url });
  return { ...result, asked: seen.map(({ method, url: path }) => `${method} ${path}`) };
}

test("says so if nothing is wrong", async () => {
  expect(await diagnose([])).toEqual({
    code: 0,
    stdout: "No problems found.\n",
    stderr: "",
    asked: ["GET /projects/shop/diagnostics?env=test"],
  });
  expect((await diagnose([], "--env", "live", "--json")).stdout).toBe('{"environment":"live","problems":[]}\n');
});

test("shows each finding with what to do about it, and succeeds; with --json it prints findings as the service gives them", async () => {
  const { code, stdout, stderr } = await diagnose(FINDINGS);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatchInlineSnapshot(`
    "problem CUSTOMERS_SET_ASIDE 1 customer is set aside because evaluation failed; their operations wait.
      fix: See why: \`svc customers list --set-aside --env test --project shop\`.

    Customer id  At              Error
    cus_1        30 minutes ago  Error: no

    problem OPERATIONS_WAITING 5 operations wait to be evaluated, the oldest for 90 seconds.
      fix: Check that a worker runs.

    warning SCHEMA_VIOLATIONS Accepted operations violate the schema of the active version v4 in 1 way.
      fix: Correct the sender, or declare these values in the model and deploy it.

    Event  Code                   Path               Operations  First seen at  Last seen at    Last event id         Last customer id
    order  INVALID_PROPERTY_TYPE  properties.amount       1,200  13 days ago    30 minutes ago  evt_0000000000000400  cus_42

    info STATES_NEVER_REACHED 2 lifecycle states were never reached by any customer.
      fix: Look at the conditions of the transitions that lead there.

    won, lost

    2 problems, 1 warning and 1 hint found in test.
    "
  `);
  const document = (await diagnose(FINDINGS, "--json")).stdout;
  expect(JSON.parse(document)).toEqual({ environment: "test", problems: FINDINGS });
});

test("the commands in a fix have the options that were given, whatever text is around them", async () => {
  const fix =
    "See what it answers: svc webhooks deliveries <webhookId> --env live. Correct the receiver; what waits is tried again, " +
    "the rest is sent by: svc webhooks resend <webhookId> --since 7d --env live";
  const { stdout } = await diagnose([{ ...FINDINGS[0], fix }], "--directory", ".", "--env", "live");
  expect(stdout).toContain(
    "See what it answers: `svc webhooks deliveries <webhookId> --env live --project shop --directory .`. Correct the receiver; what",
  );
  expect(stdout).toContain(
    "sent by: `svc webhooks resend <webhookId> --since 7d --env live --project shop --directory .`\n",
  );
});

test("instants are shown in the reader's time zone, and in lists as how long ago they were", async () => {
  const webhooks = [{ webhookId: "whk_1", failingSince: "2026-03-14T08:00:00.000Z" }];
  const message = "1 operation is in quarantine since 2026-03-14T08:00:00.000Z: accepted.";
  const { stdout } = await diagnose([{ ...FINDINGS[0], message, details: { webhooks } }]);
  expect(stdout).toContain("in quarantine since 2026-03-14 09:00:00 +01:00: accepted.");
  expect(stdout).toContain("Webhook id  Failing since\nwhk_1       2 hours ago\n");
});

test("shows the beginning of a long list, and foreign names in it cannot rewrite the terminal", async () => {
  const list = Array.from({ length: 21 }, (_, n) => ({ ...VIOLATION, path: `properties.p${n}` }));
  const { stdout } = await diagnose([violations(list)]);
  expect(stdout).toContain("properties.p19");
  expect(stdout).not.toContain("properties.p20");
  expect(stdout).toContain("\nThe first 20; --json has more.\n");
  expect(stdout).toContain("1 warning found in test.");
  const { stdout: hostile } = await diagnose([
    violations([{ ...VIOLATION, event: "a\u001b[2Jb", lastCustomerId: "x\ny" }]),
    { ...FINDINGS[3], details: { states: ["c\u001b[2Jd"] } },
  ]);
  for (const shown of ["a\\u001b[2Jb", "x\\u000ay", "c\\u001b[2Jd"]) expect(hostile).toContain(shown);
  expect(hostile).not.toContain("\u001b[2J");
});

test("fails only if it cannot reach an answer", async () => {
  const { url } = await cannedServer(json({ error: { code: "FORBIDDEN", message: "No.", requestId: "r" } }, 403));
  expect(await svc(["diagnose", "--project", "shop"], { at: url })).toMatchObject({ code: 1, stdout: "" });
});
