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
  await call(sql, "note_public_url", "https://svc.example");
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
  await deliverer.idle();
  await deliverer.stop();
  await receiver.close();
  const answers = (await attemptsOf(sql, webhookId)).map((one) => one.response || one.status_code);
  return { answers, bodies: receiver.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>) };
}

test("Slack accepts a message, in which a name is neither a mention nor a link", async () => {
  const { answers, bodies } = await delivered("slack", asSlack, [ENTERED]);
  expect(answers).toEqual(["ok"]);
  expect(Object.keys(bodies[0]!)).toEqual(["text"]);
  const [text = "", link] = readInSlack(bodies[0]!["text"] as string).split("\n");
  expect(text).toBe(`${NAME} entered segment paying`);
  expect(link).toMatch(/^«https:\/\/svc\.example\/console\/\w+\/app\/test\/customer\?id=c Open in the console»$/);
});

test("Teams accepts a card, in which a name is not Markdown", async () => {
  const { answers, bodies } = await delivered("teams", asTeams, [ENTERED]);
  expect(answers).toEqual([202]);
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

test("the longest message is accepted by both", async () => {
  const message = "&".repeat(5_000);
  const longest = { type: "upsell.ready", source: "rule", customerId: "d", metadata: JSON.stringify({ message }) };
  expect((await delivered("slack", asSlack, [longest])).answers).toEqual(["ok"]);
  expect((await delivered("teams", asTeams, [longest])).answers).toEqual([202]);
});

test.each<[type: string, source: string, metadata: object, text: string]>([
  ["customer.created", "lifecycle", { new_lifecycle: "trial" }, "Globex was seen for the first time"],
  [
    "customer.active",
    "lifecycle",
    { previous_lifecycle: "trial", new_lifecycle: "active" },
    "Globex: lifecycle went from trial to active",
  ],
  ["journey.started", "journey", { journey: "onboarding" }, "Globex started journey onboarding"],
  [
    "journey.step_completed",
    "journey",
    { journey: "onboarding", step: "invite" },
    "Globex completed step invite of journey onboarding",
  ],
  ["journey.completed", "journey", { journey: "onboarding" }, "Globex completed journey onboarding"],
  ["journey.expired", "journey", { journey: "onboarding" }, "Globex: journey onboarding expired"],
  ["segment.entered", "segment", { segment: "power_users" }, "Globex entered segment power_users"],
  ["segment.exited", "segment", { segment: "power_users" }, "Globex left segment power_users"],
  [
    "health.changed",
    "health",
    { previous_band: "healthy", new_band: "at_risk", overall: 41.3 },
    "Globex: health fell from healthy to at_risk (41)",
  ],
  [
    "health.changed",
    "health",
    { previous_band: "at_risk", new_band: "healthy", overall: 70 },
    "Globex: health rose from at_risk to healthy (70)",
  ],
  [
    "health.changed",
    "health",
    { previous_band: "gone", new_band: "healthy", overall: 70 },
    "Globex: health went from gone to healthy (70)",
  ],
  [
    "health.changed",
    "health",
    { previous_band: null, new_band: "healthy", overall: 70 },
    "Globex: health is healthy (70)",
  ],
  [
    "signal.raised",
    "signal",
    { signal: "churn", severity: "critical", message: "Call them." },
    "Globex: signal churn (critical) was raised: Call them.",
  ],
  [
    "signal.raised",
    "signal",
    { signal: "churn", severity: "info", message: null },
    "Globex: signal churn (info) was raised",
  ],
  [
    "signal.cleared",
    "signal",
    { signal: "churn", severity: "info", message: null },
    "Globex: signal churn was cleared",
  ],
  ["upsell.ready", "rule", { rule: "r" }, "Globex: upsell.ready"],
  ["upsell.ready", "rule", { rule: "r", message: "Ask\n\u202eAnn\u2028" }, "Ask Ann"],
  ["upsell.ready", "rule", { rule: "r", message: " \u202e" }, "upsell.ready"],
  ["something.new", "something", {}, "Globex: something.new"],
])("%s of %s with %j reads: %s", async (type, source, metadata, text) => {
  const [row] = await sql`
    select said from svc.emission_text(${type}, ${source}, ${JSON.stringify(metadata)}::text::jsonb, 'Globex', ${sql.json(BANDS)}::json)`;
  expect(row!.said).toBe(text);
});

test("a body has no link if the service's address is unknown", async () => {
  const [row] = await sql<[{ slack: string; teams: string }]>`
    select svc.chat_body('slack', 'a', null)::text as slack, svc.chat_body('teams', 'a', null)::text as teams`;
  expect(JSON.parse(row.slack)).toEqual({ text: "a" });
  expect(row.teams).not.toContain("OpenUrl");
});
