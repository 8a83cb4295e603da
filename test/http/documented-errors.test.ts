import { createServer } from "node:http";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { answerClientErrors } from "../../src/http/client-error.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { documentedErrors, type DocumentedError } from "../support/documented-errors.js";
import { refuses, startProvider, type Behaviour } from "../support/language-model.js";
import { listen } from "../support/listen.js";
import { DOCS_URL, environmentId } from "../support/service.js";
import { startIngest, useIngest, type IngestFixture } from "./ingest/fixture.js";
import { openConnection } from "./ingest/raw-connection.js";

interface Answered {
  status: number;
  body: unknown;
}

const MODEL: Partial<Snapshot> = {
  strictSchema: true,
  events: {
    order_placed: {
      properties: {
        amount: { type: "number" },
        currency: { type: "string", enum: ["EUR", "USD"], optional: true },
        address: { type: "string", optional: true },
      },
    },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] }, seats: { type: "number" } },
};

const provider = await startProvider();
// Here the provider times out after a second.
const ai = { baseUrl: provider.baseUrl, apiKey: "key", model: "small", partMsMax: 1_000 };
const fixture = await useIngest({}, { ai });
const { sql } = fixture.service.db;
await fixture.deploy(MODEL);
afterAll(() => provider.close());

const WEBHOOK = { url: "https://example.com/hook", eventTypes: ["*"] };
const order = (properties: object = {}, more: object = {}) => ({
  customerId: "globex",
  event: "order_placed",
  properties: { amount: 120, ...properties },
  ...more,
});
const identify = (traits: object) => [{ type: "identify", customerId: "globex", traits }];
const administer = (method: string, path: string, body?: object) =>
  fixture.service.request(method, `/organization/${path}`, { by: fixture.owner, body });
const read = (path: string, by = fixture.owner) => fixture.service.request("GET", `/projects/${path}`, { by });
const change = (path: string, body: unknown, by = fixture.owner) =>
  fixture.service.request("POST", `/projects${path && `/${path}`}`, { by, body });

function askModel({ service, owner }: IngestFixture): Promise<Answered> {
  const body = { task: "explain-config", facts: {} };
  return service.request("POST", "/projects/app/ai/answers", { by: owner, body });
}

function askProviderThat(behaviour: Behaviour): Promise<Answered> {
  provider.behave(behaviour);
  return askModel(fixture);
}

/** Creates a webhook or a recompute with this id. */
async function create(what: "webhook" | "recompute", id: string): Promise<void> {
  const body = what === "webhook" ? WEBHOOK : { all: true };
  const { id: createdId } = (await change(`app/${what}s`, body)).body as { id: string };
  await sql`update ${sql(`svc.${what}s`)} set ${sql(`${what}_id`)} = ${id} where ${sql(`${what}_id`)} = ${createdId}`;
}

/** Makes the request while the database is changed, then reverts the change. */
async function whileChanged(change: string, request: () => Promise<Answered>, revert: string): Promise<Answered> {
  await sql.unsafe(change);
  try {
    return await request();
  } finally {
    await sql.unsafe(revert);
  }
}

const whilePlan = (column: string, value: string, request: () => Promise<Answered>) =>
  whileChanged(`update iam.plans set ${column} = ${value}`, request, `update iam.plans set ${column} = default`);

/** A server's answer to half a request, after its timeout. */
async function sendHalf(): Promise<Answered> {
  const server = createServer({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 10 });
  answerClientErrors(server, DOCS_URL);
  const connection = openConnection(await listen(server));
  connection.write("POST /v1/events HTTP/1.1\r\nHost: localhost\r\n");
  const [answer] = await connection.closed;
  server.close();
  return answer!;
}

/** For each code, a request that is answered with the documented body. */
const requests: Record<string, () => Promise<Answered>> = {
  INVALID_API_KEY: () => fixture.single(order(), { Authorization: "Bearer svc_test_unknown" }),
  PLAN_REQUIRED: () => whilePlan("cloud_execution", "false", () => fixture.single(order())),
  MALFORMED_JSON: () => fixture.single('{\n  "customerId": "globex",\n  "event": order_placed\n}'),
  VALIDATION_ERROR: () => fixture.batch([order(), order({}, { timestamp: "2026-03-02T10:00:00" })]),
  BATCH_SIZE_INVALID: () => fixture.batch(Array(1200).fill(order())),
  PAYLOAD_TOO_LARGE: () => fixture.single(" ".repeat(600_000)),
  UNSUPPORTED_MEDIA_TYPE: () =>
    fixture.single("customerId=globex", { "Content-Type": "application/x-www-form-urlencoded" }),
  IDEMPOTENCY_CONFLICT: async () => {
    await fixture.single(order({}, { idempotencyKey: "order-1001" }));
    return fixture.single(order({ amount: 130 }, { idempotencyKey: "order-1001" }));
  },
  RATE_LIMIT_EXCEEDED: () =>
    whileChanged(
      "update iam.plans set rate_per_second = 100; update svc.key_usage set tokens = 20, refilled_at = now() + interval '9 seconds'",
      () => fixture.batch(Array(300).fill(order())),
      "update iam.plans set rate_per_second = 50000; update svc.key_usage set tokens = 100000",
    ),
  MONTHLY_QUOTA_EXCEEDED: () =>
    whileChanged(
      "update iam.plans set monthly_events = 1000; update svc.key_usage set month_events = 999, month = svc.month_of(now()) where month_events > 0",
      () => fixture.batch([order(), order()]),
      "update iam.plans set monthly_events = null",
    ),

  UNKNOWN_EVENT: () => fixture.single({ customerId: "globex", event: "order_place" }),
  MISSING_REQUIRED_PROPERTY: () => fixture.single({ customerId: "globex", event: "order_placed" }),
  UNKNOWN_PROPERTY: () => fixture.single(order({ colour: "red" })),
  INVALID_PROPERTY_TYPE: () => fixture.single(order({ amount: "120" })),
  INVALID_PROPERTY_ENUM: () => fixture.batch([order({ currency: "eur" }), order({ amount: null })]),
  INVALID_STRUCTURE: () => fixture.single(order({ address: { city: "Zurich" } })),
  UNKNOWN_TRAIT: () => fixture.batch(identify({ tier: 1 })),
  INVALID_TRAIT_TYPE: () => fixture.batch(identify({ seats: "five" })),
  INVALID_TRAIT_ENUM: () => fixture.batch(identify({ plan: "gold" })),

  INVALID_SESSION: () => read("app", { ...fixture.owner, token: "svc_token_unknown" }),
  ORGANIZATION_REQUIRED: () =>
    fixture.service.request("GET", "/whoami", { headers: { Authorization: `Bearer ${fixture.owner.token}` } }),
  ORGANIZATION_NOT_FOUND: () => read("app", { ...fixture.owner, organizationId: "org_unknown" }),
  FORBIDDEN: async () => {
    const viewer = await fixture.service.member(fixture.owner, "viewer");
    return change("", { name: "Shop", slug: "shop" }, viewer);
  },
  PROJECT_NOT_FOUND: () => read("shop/overview"),
  CUSTOMER_NOT_FOUND: () => read("app/customers/globex-2"),
  JOURNEY_NOT_FOUND: async () => {
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at)
      select environment_id, 'initech', now() from svc.environments where name = 'test'`;
    return read("app/customers/initech/journeys/onboarding");
  },
  SEGMENT_NOT_FOUND: () => read("app/segments/power_users"),
  WEBHOOK_NOT_FOUND: () => read("app/webhooks/whk_1/deliveries"),
  DELIVERY_NOT_FOUND: async () => {
    await create("webhook", "whk_4f1a4c7f9b3e5d0c2b6e");
    return read("app/webhooks/whk_4f1a4c7f9b3e5d0c2b6e/deliveries/emi_0000000000000400");
  },
  EVENT_NOT_FOUND: () => read("app/events/evt_0000000000000400"),
  EMISSION_NOT_FOUND: () => read("app/emissions/emi_0000000000000400"),
  KEY_NOT_FOUND: () => change("app/keys/key_1/rotate", {}),
  VERSION_NOT_FOUND: () => read("app/config-versions/v9"),
  RECOMPUTE_NOT_FOUND: () => read("app/recomputes/rec_1"),
  PREVIEW_NOT_FOUND: () => read("app/previews/prv_1"),
  BACKTEST_NOT_FOUND: () => read("app/backtests/bkt_1"),
  MEMBER_NOT_FOUND: () => administer("DELETE", "members/usr_1"),
  INVITATION_NOT_FOUND: () => administer("DELETE", "invitations/inv_1"),
  TOKEN_NOT_FOUND: () => administer("DELETE", "tokens/tok_1"),
  SLUG_TAKEN: () => change("", { name: "App", slug: "app" }),
  KEY_REVOKED: async () => {
    const { body } = await change("app/keys", { name: "old" });
    await sql`
      update svc.api_keys set api_key_id = 'key_5d0c2b6e4f1a4c7f9b3e', revoked_at = '2026-03-02T10:00:00Z'
      where api_key_id = ${(body as { key: { id: string } }).key.id}`;
    return change("app/keys/key_5d0c2b6e4f1a4c7f9b3e/rotate", {});
  },
  WEBHOOK_DISABLED: async () => {
    await create("webhook", "whk_5f0c2a9e7b1d4c3a5f0c");
    await sql`
      update svc.webhooks set disabled_at = now(), disabled_reason = 'The endpoint answered 410 Gone.'
      where webhook_id = 'whk_5f0c2a9e7b1d4c3a5f0c'`;
    return change("app/webhooks/whk_5f0c2a9e7b1d4c3a5f0c/resend", { since: "1d" });
  },
  RECOMPUTE_NOT_A_DRY_RUN: async () => {
    await create("recompute", "rec_5f0c2a9e7b1d4c3a5f0c");
    return change("app/recomputes", { from: "rec_5f0c2a9e7b1d4c3a5f0c" });
  },
  RECOMPUTE_NOT_DEAD: async () => {
    await create("recompute", "rec_4f1a4c7f9b3e5d0c2b6e");
    return change("app/recomputes/rec_4f1a4c7f9b3e5d0c2b6e/retry", {});
  },
  RECOMPUTE_FINISHED: async () => {
    await create("recompute", "rec_2b6e4f1a4c7f9b3e5d0c");
    await sql`
      update svc.recomputes set status = 'completed', finished_at = now() where recompute_id = 'rec_2b6e4f1a4c7f9b3e5d0c'`;
    return change("app/recomputes/rec_2b6e4f1a4c7f9b3e5d0c/cancel", {});
  },
  VERSION_CONFLICT: () => change("app/config-versions", { snapshot: EMPTY_SNAPSHOT, expected: "v2" }),
  CONFIG_WARNINGS: async () => {
    await fixture.deploy({ ...MODEL, segments: [{ id: "power_users" }] });
    await sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      values (${await environmentId(sql, "app", "test")}, 'power_users', 'globex', now())`;
    return change("app/config-versions", { snapshot: { ...EMPTY_SNAPSHOT, ...MODEL } });
  },
  LAST_OWNER: async () => {
    const { body } = await administer("GET", "members");
    const { data } = body as { data: { userId: string; role: string }[] };
    return administer("DELETE", `members/${data.find(({ role }) => role === "owner")!.userId}`);
  },
  ALREADY_MEMBER: () =>
    whileChanged(
      "update iam.users set email = 'ada@example.com' where email like 'owner@%'",
      () => administer("POST", "invitations", { email: "Ada@example.com", role: "viewer" }),
      "update iam.users set email = 'owner@acme.example' where email = 'ada@example.com'",
    ),
  CONFIG_INVALID: () => change("app/config-versions", { snapshot: { formatVersion: 99 } }),
  STATE_TOO_LARGE: () => {
    const when = { kind: "distinct", of: { event: "login" }, property: "user", operator: "gte", value: 10_000 };
    const segments = ["30d", "60d"].map((within) => ({ id: `busy_${within}`, when: { ...when, within } }));
    const events = { login: { properties: { user: { type: "string" } } } };
    return change("app/config-versions", { snapshot: { ...EMPTY_SNAPSHOT, events, segments } });
  },

  QUOTA_EXCEEDED: () => whilePlan("webhooks", "2", () => change("app/webhooks", WEBHOOK)),

  AI_NOT_CONFIGURED: async () => {
    const without = await startIngest();
    onTestFinished(() => without.service.stop());
    return askModel(without);
  },
  AI_RATE_LIMITED: () => askProviderThat(refuses(429, "rate_limit_exceeded")),
  AI_UNAVAILABLE: () => askProviderThat(refuses(401, "invalid_api_key")),
  AI_TIMEOUT: () => askProviderThat(() => undefined),

  INVALID_METRICS_TOKEN: () => fixture.service.request("GET", "/metrics"),

  NOT_FOUND: () => fixture.post("/events", order()),
  METHOD_NOT_ALLOWED: () => fixture.service.request("GET", "/v1/events"),
  REQUEST_TIMEOUT: sendHalf,
  HEADERS_TOO_LARGE: () => fixture.single(order(), { "X-Filler": "x".repeat(20_000) }),
  INTERNAL_ERROR: () =>
    whileChanged(
      "alter table iam.memberships rename to hidden",
      () => read("app/overview"),
      "alter table iam.hidden rename to memberships",
    ),
  SERVICE_UNAVAILABLE: () =>
    whileChanged(
      `create function svc.refuse() returns trigger language plpgsql as 'begin raise lock_not_available; end';
       create trigger refuse before update on svc.key_usage execute function svc.refuse()`,
      () => fixture.single(order()),
      "drop function svc.refuse() cascade",
    ),
};

/** The error with the parts masked that differ between requests: id, address of the documentation, month, seconds waited. */
function comparable({ error }: { error: Record<string, unknown> }): unknown {
  const { requestId, docs, ...rest } = error;
  const steady = JSON.stringify(rest)
    .replace(/\d{4}-\d\d(?=;|-01T00:00:00Z)/g, "YYYY-MM")
    .replace(/for \d+ seconds/g, "for N seconds");
  return [JSON.parse(steady), typeof requestId, String(docs).replace(/^.*(?=\/api#)/, "")];
}

it("covers exactly the documented errors", () => {
  expect(Object.keys(requests)).toEqual(documentedErrors.map(({ code }) => code));
});

describe("the service answers as documented with", () => {
  it.each(documentedErrors)("$status $code", async ({ code, status, body }) => {
    const answered = await requests[code]!();
    expect(answered.status).toBe(status);
    expect(comparable(answered.body as DocumentedError["body"])).toEqual(comparable(body));
  });
});
