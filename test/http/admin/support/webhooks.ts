import { emit, type TestEmission } from "../../../webhooks/support/fixtures.js";
import type { Reply, ServiceOptions } from "../../../support/service.js";
import { useApi, type Api, type Environment } from "./api.js";

export interface Webhook {
  id: string;
  url: string;
  failingSince: string | null;
  createdAt: string;
  previousSecretExpiresAt: string | null;
}

export interface Delivery {
  id: string;
  status: string;
}

/** Webhooks of a project that is new in each test. */
export interface WebhookApi {
  api: Api;
  /** Makes a webhook, of everything to example.com unless given. */
  create: (body?: object, env?: Environment) => Promise<Webhook & { secret: string }>;
  patch: (id: string, body: unknown) => Promise<Reply>;
  show: (id: string) => Promise<Webhook & { pending: number; oldestPendingAt: string | null }>;
  /** Writes emissions as one evaluation does, in test; answers their ids. */
  emit: (emissions: TestEmission[]) => Promise<string[]>;
  /** Writes one. */
  emitOne: (emission?: TestEmission) => Promise<string>;
  /** The delivery as it is listed; undefined where there is none. */
  delivery: (webhookId: string, id: string) => Promise<Delivery | undefined>;
  /** Puts a delivery into a state, with as many attempts on record. */
  setDelivery: (webhookId: string, id: string, status: string, attempts: number) => Promise<void>;
  /** Resolves once a change makes something due, of which workers are told. */
  told: (change: () => Promise<unknown>) => Promise<void>;
}

export function useWebhooks(options: ServiceOptions = {}): WebhookApi {
  const api = useApi("each", {}, options);
  const write = async (emissions: TestEmission[]): Promise<string[]> => {
    const seqs = await emit(api.sql, await api.environmentId(), emissions);
    return seqs.map((seq) => `emi_${BigInt(seq).toString(16).padStart(16, "0")}`);
  };
  return {
    api,
    create: async (body = {}, env = "test") => {
      const webhook = { url: "https://example.com/hook", eventTypes: ["*"], ...body };
      const reply = await api.post(`/webhooks?env=${env}`, webhook);
      if (reply.status !== 201) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
      return reply.body as Webhook & { secret: string };
    },
    patch: (id, body) => api.ask("PATCH", `/webhooks/${id}`, body),
    show: (id) => api.read(`/webhooks/${id}`),
    emit: write,
    emitOne: async (emission = {}) => (await write([emission]))[0]!,
    delivery: async (webhookId, id) => {
      const { items } = await api.readAll<Delivery>(`/webhooks/${webhookId}/deliveries`, 200);
      return items.find((delivery) => delivery.id === id);
    },
    setDelivery: async (webhookId, id, status, attempts) => {
      await api.sql`
        update svc.deliveries
        set status = ${status}, attempts = ${attempts}, next_attempt_at = '2026-01-01Z',
          finished_at = ${status === "pending" ? null : "2026-01-01T00:00:05Z"}
        where webhook_id = ${webhookId} and emission_seq = svc.emission_seq(${id})`;
      await api.sql`
        insert into svc.delivery_attempts (
          environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response
        )
        select environment_id, webhook_id, emission_seq, n, timestamptz '2026-01-01Z' + n * interval '1 second', 10 + n, 500, null, 'no'
        from svc.deliveries, generate_series(1, ${attempts}::integer) as n
        where webhook_id = ${webhookId} and emission_seq = svc.emission_seq(${id})`;
    },
    told: (change) =>
      new Promise((resolve, reject) => {
        void api.sql.listen(
          "svc_deliveries",
          () => resolve(),
          () => void change().catch(reject),
        );
      }),
  };
}
