import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { call } from "../../src/db/api/call.js";
import { Deliverer } from "../../src/tasks/deliver/deliver.js";
import { runLog } from "../support/run-log.js";
import { asSlack, asTeams, readInSlack } from "./support/chats.js";
import {
  attemptsOf,
  createEnvironment,
  createWebhook,
  emit,
  nothingDue,
  SERVICE_SECRET,
  type TestEmission,
  useWebhooks,
  type WebhookSettings,
} from "./support/fixtures.js";
import { type Answer, startReceiver } from "./support/receiver.js";

const sql = await useWebhooks();

const BANDS = [
  { id: "healthy", from: 70 },
  { id: "at_risk", from: 0 },
];
const NAME = '<!channel> & "Söhne" *b* [c](https://evil.example) <https://evil.example|d>';

const LONGEST = {
  ...{ type: "upsell.ready", source: "rule", customerId: "d" },
  metadata: JSON.stringify({ message: "&".repeat(5_000) }),
};
const ENTERED = { type: "segment.entered", source: "segment", customerId: "c", metadata: '{"segment": "paying"}' };

/** Creates an environment whose customer c has a hostile name, and d none. */
async function populated(): Promise<number> {
  const environment = await createEnvironment(sql);
  const snapshot = { strictSchema: false, display: { name: "n" }, health: { bands: BANDS } };
  await sql`
    insert into svc.config_versions (project_id, version, hash, snapshot, author)
    select project_id, 1, 'h', ${sql.json(snapshot)}::json, 'a@b' from svc.environments where environment_id = ${environment}`;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, traits)
    values (${environment}, 'c', now(), ${JSON.stringify({ n: NAME })}::text::jsonb), (${environment}, 'd', now(), '{}')`;
  await call(sql, "store_public_url", "https://svc.example");
  return environment;
}

/** The requests to a receiver with this answer for these emissions, once all attempts are recorded. */
async function delivered(format: NonNullable<WebhookSettings["format"]>, answer: Answer, emissions: TestEmission[]) {
  const environment = await populated();
  const receiver = await startReceiver(answer);
  const { webhookId } = await createWebhook(sql, environment, receiver.url, ["*"], { format, maxConcurrency: 1 });
  await emit(
    sql,
    environment,
    emissions.map((emission) => ({ configVersion: 1, ...emission })),
  );
  const deliverer = new Deliverer({ sql, secret: SERVICE_SECRET, allowPrivate: true, logger: runLog() });
  await nothingDue(sql);
  await deliverer.stop();
  await receiver.close();
  const answers = (await attemptsOf(sql, webhookId)).map((one) => one.response || one.status_code);
  return { answers, bodies: receiver.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>) };
}

test("Slack accepts the longest message, and a name in one is neither a mention nor a link", async () => {
  const { answers, bodies } = await delivered("slack", asSlack, [ENTERED, LONGEST]);
  expect(answers).toEqual(["ok", "ok"]);
  expect(Object.keys(bodies[0]!)).toEqual(["text"]);
  const [text = "", link] = readInSlack(bodies[0]!["text"] as string).split("\n");
  expect(text).toBe(`${NAME} entered segment paying`);
  expect(link).toMatch(/^«https:\/\/svc\.example\/console\/\w+\/app\/test\/customer\?id=c Open in the console»$/);
});

test("Teams accepts a card with the longest message, and a name in one is not Markdown", async () => {
  const { answers, bodies } = await delivered("teams", asTeams, [ENTERED, LONGEST]);
  expect(answers).toEqual([202, 202]);
  const [{ content }] = bodies[0]!["attachments"] as [{ content: object }];
  expect(content).toMatchObject({
    body: [{ type: "RichTextBlock", inlines: [{ type: "TextRun", text: `${NAME} entered segment paying` }] }],
    actions: [{ title: "Open in the console", url: expect.stringMatching(/customer\?id=c$/) as string }],
  });
});

test("the guide shows the actual bodies", async () => {
  const guide = readFileSync("docs/webhooks.md", "utf8");
  const [, slack, teams] = /compares these with what is sent -->\s+```json\n(.+?)```\s+```json\n(.+?)```/s.exec(guide)!;
  const [row] = await sql<[{ slack: unknown; teams: unknown }]>`
    select svc.chat_body('slack', t.text, u.url) as slack, svc.chat_body('teams', t.text, u.url) as teams
    from (select 'Globex: health fell from healthy to at_risk (41)' as text) as t,
      (select 'https://svc.example/console/acme/app/test/customer?id=globex' as url) as u`;
  expect([slack, teams].map((text) => JSON.parse(text!) as unknown)).toEqual([row.slack, row.teams]);
});

test("a body for backends is refused by both", async () => {
  expect((await delivered("json", asSlack, [{}])).answers).toEqual(["no_text"]);
  expect((await delivered("json", asTeams, [{}])).answers).toEqual([400]);
});

const SOURCES: Record<string, string> = { customer: "lifecycle", upsell: "rule" };
const band = (previous_band: string | null, new_band: string, overall: number) => ({
  previous_band,
  new_band,
  overall,
});
const signal = (severity: string, message: string | null) => ({ signal: "churn", severity, message });

test.each<[type: string, metadata: object, text: string]>([
  ["customer.created", { new_lifecycle: "trial" }, "Acme was seen for the first time"],
  [
    "customer.active",
    { previous_lifecycle: "new", new_lifecycle: "active" },
    "Acme: lifecycle went from new to active",
  ],
  ["journey.started", { journey: "onboarding" }, "Acme started journey onboarding"],
  ["journey.step_completed", { journey: "start", step: "invite" }, "Acme completed step invite of journey start"],
  ["journey.completed", { journey: "onboarding" }, "Acme completed journey onboarding"],
  ["journey.expired", { journey: "onboarding" }, "Acme: journey onboarding expired"],
  ["segment.entered", { segment: "power_users" }, "Acme entered segment power_users"],
  ["segment.exited", { segment: "power_users" }, "Acme left segment power_users"],
  ["health.changed", band("healthy", "at_risk", 41.3), "Acme: health fell from healthy to at_risk (41)"],
  ["health.changed", band("at_risk", "healthy", 70), "Acme: health rose from at_risk to healthy (70)"],
  ["health.changed", band("gone", "healthy", 70), "Acme: health went from gone to healthy (70)"],
  ["health.changed", band(null, "healthy", 70), "Acme: health is healthy (70)"],
  ["signal.raised", signal("critical", "Call them."), "Acme: signal churn (critical) was raised: Call them."],
  ["signal.raised", signal("info", null), "Acme: signal churn (info) was raised"],
  ["signal.cleared", signal("info", null), "Acme: signal churn was cleared"],
  ["upsell.ready", { rule: "r" }, "Acme: upsell.ready"],
  ["upsell.ready", { rule: "r", message: "Ask\n\u202eAnn\u2028" }, "Ask Ann"],
  ["upsell.ready", { rule: "r", message: " \u202e" }, "upsell.ready"],
  ["something.new", {}, "Acme: something.new"],
])("%s with %j reads: %s", async (type, metadata, text) => {
  const kind = type.split(".")[0]!;
  const [row] = await sql`
    select said from svc.emission_text(
      ${type}, ${SOURCES[kind] ?? kind}, ${JSON.stringify(metadata)}::text::jsonb, 'Acme', ${sql.json(BANDS)}::json
    )`;
  expect(row!.said).toBe(text);
});

test("a body has no link if the service's address is unknown", async () => {
  const [row] = await sql<[{ slack: string; teams: string }]>`
    select svc.chat_body('slack', 'a', null)::text as slack, svc.chat_body('teams', 'a', null)::text as teams`;
  expect(JSON.parse(row.slack)).toEqual({ text: "a" });
  expect(row.teams).not.toContain("OpenUrl");
});
