import { emit, type TestEmission } from "../../../webhooks/support/fixtures.js";
import { environmentId, startService, type Actor, type Reply, type Service } from "../../../support/service.js";

export interface Webhook {
  id: string;
  url: string;
  eventTypes: string[];
  maxEventAge: string | null;
  maxConcurrency: number;
  maxPerSecond: number | null;
  createdAt: string;
  previousSecretExpiresAt: string | null;
  failingSince: string | null;
  disabledAt: string | null;
  disabledReason: string | null;
}

export interface Delivery {
  id: string;
  status: string;
  attempts: number;
  nextAttemptAt: string | null;
  finishedAt: string | null;
}

export interface AuditEntry {
  action: string;
  project: string;
  environment: string;
  target: string;
  details: Record<string, unknown>;
  actor: string;
  request_id: string;
}

/** Webhooks of a project that is new in each test, over HTTP, by an owner. */
export interface WebhookFixture {
  service: Service;
  owner: Actor;
  /** Makes the project of the next test. */
  begin(): Promise<void>;
  slug(): string;
  /** A request below the project. */
  request(method: string, path: string, body?: unknown, by?: Actor): Promise<Reply>;
  /** Makes a webhook, of everything to example.com unless given. */
  create(body?: object, env?: "test" | "live"): Promise<Webhook & { secret: string }>;
  read(webhookId: string): Promise<Webhook & { pending: number; oldestPendingAt: string | null }>;
  /** Writes emissions as one evaluation does, in test; answers their ids. */
  emit(emissions: TestEmission[]): Promise<string[]>;
  /** The delivery as it is listed; undefined where there is none. */
  delivery(webhookId: string, id: string): Promise<Delivery | undefined>;
  /** Puts a delivery into a state, with as many attempts on record. */
  setDelivery(webhookId: string, id: string, to: { status: string; attempts: number }): Promise<void>;
  /** What the audit log has of webhooks of the project. */
  audit(): Promise<AuditEntry[]>;
  stop(): Promise<void>;
}

export async function startWebhooks(options: Parameters<typeof startService>[1] = {}): Promise<WebhookFixture> {
  const service = await startService({}, options);
  const owner = await service.owner("acme");
  const { sql } = service.db;
  let slug = "";
  let projects = 0;
  const request: WebhookFixture["request"] = (method, path, body, by = owner) =>
    service.request(method, `/projects/${slug}${path}`, { by, ...(body === undefined ? {} : { body }) });
  const succeed = async (reply: Promise<Reply>): Promise<unknown> => {
    const { status, body } = await reply;
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    service,
    owner,
    slug: () => slug,
    async begin() {
      slug = `p${projects++}`;
      await succeed(service.request("POST", "/projects", { by: owner, body: { name: "App", slug } }));
    },
    request,
    create: async (body = {}, env = "test") => {
      const webhook = { url: "https://example.com/hook", eventTypes: ["*"], ...body };
      return (await succeed(request("POST", `/webhooks?env=${env}`, webhook))) as Webhook & { secret: string };
    },
    read: async (webhookId) =>
      (await succeed(request("GET", `/webhooks/${webhookId}`))) as Awaited<ReturnType<WebhookFixture["read"]>>,
    emit: async (emissions) => {
      const seqs = await emit(sql, await environmentId(sql, slug, "test"), emissions);
      return seqs.map((seq) => `emi_${BigInt(seq).toString(16).padStart(16, "0")}`);
    },
    delivery: async (webhookId, id) => {
      const { data } = (await succeed(request("GET", `/webhooks/${webhookId}/deliveries?limit=200`))) as {
        data: Delivery[];
      };
      return data.find((delivery) => delivery.id === id);
    },
    async setDelivery(webhookId, id, { status, attempts }) {
      await sql`
        update svc.deliveries
        set status = ${status}, attempts = ${attempts}, next_attempt_at = '2026-01-01Z',
          finished_at = ${status === "pending" ? null : "2026-01-01T00:00:05Z"}
        where webhook_id = ${webhookId} and emission_seq = svc.emission_seq(${id})`;
      await sql`
        insert into svc.delivery_attempts (
          environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response
        )
        select environment_id, webhook_id, emission_seq, n, timestamptz '2026-01-01Z' + n * interval '1 second', 10 + n, 500, null, 'no'
        from svc.deliveries, generate_series(1, ${attempts}::integer) as n
        where webhook_id = ${webhookId} and emission_seq = svc.emission_seq(${id})`;
    },
    audit: async () => [
      ...(await sql<AuditEntry[]>`
        select action, project, environment, target, details, actor, request_id from iam.audit_log
        where project = ${slug} and action like 'webhook.%' order by audit_seq`),
    ],
    stop: () => service.stop(),
  };
}
