import { expect } from "vitest";
import { emit, type TestEmission } from "../../../webhooks/support/fixtures.js";
import type { Reply, ServiceOptions } from "../../../support/service.js";
import { useApi, type Environment } from "./api.js";

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

/** Webhooks of a new project for each test. */
export function useWebhooks(options: ServiceOptions = {}) {
  const api = useApi("each", {}, options);
  /** Writes emissions like one evaluation, in test; returns their ids. */
  const write = async (emissions: TestEmission[]): Promise<string[]> => {
    const seqs = await emit(api.sql, await api.environmentId(), emissions);
    return seqs.map((seq) => `emi_${BigInt(seq).toString(16).padStart(16, "0")}`);
  };
  return {
    api,
    /** Creates a webhook, by default of all types, to example.com. */
    create: async (body: object = {}, env: Environment = "test"): Promise<Webhook & { secret: string }> => {
      const webhook = { url: "https://example.com/hook", eventTypes: ["*"], ...body };
      const reply = await api.post(`/webhooks?env=${env}`, webhook);
      expect(reply.status, JSON.stringify(reply.body)).toBe(201);
      return reply.body as Webhook & { secret: string };
    },
    patch: (id: string, body: unknown): Promise<Reply> => api.ask("PATCH", `/webhooks/${id}`, body),
    show: (id: string) => api.read<Webhook & { pending: number; oldestPendingAt: string | null }>(`/webhooks/${id}`),
    emit: write,
    /** Writes one emission. */
    emitOne: async (emission: TestEmission = {}): Promise<string> => (await write([emission]))[0]!,
    /** The delivery as listed; undefined if there is none. */
    delivery: async (webhookId: string, id: string): Promise<Delivery | undefined> => {
      const { items } = await api.readAll<Delivery>(`/webhooks/${webhookId}/deliveries`, 200);
      return items.find((delivery) => delivery.id === id);
    },
    /** Puts a delivery into a state, with this many recorded attempts. */
    setDelivery: async (webhookId: string, id: string, status: string, attempts: number): Promise<void> => {
      await api.sql`
        update svc.deliveries
        set status = ${status}, attempts = ${attempts}, next_attempt_at = '2026-01-01Z',
          finished_at = ${status === "pending" ? null : "2026-01-01T00:00:05Z"}
        where webhook_id = ${webhookId} and emission_seq = svc_inspect.emission_seq(${id})`;
      await api.sql`
        insert into svc.delivery_attempts (
          environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code, error, response
        )
        select environment_id, webhook_id, emission_seq, n, timestamptz '2026-01-01Z' + n * interval '1 second', 10 + n, 500, null, 'no'
        from svc.deliveries, generate_series(1, ${attempts}::integer) as n
        where webhook_id = ${webhookId} and emission_seq = svc_inspect.emission_seq(${id})`;
    },
    /** Resolves once the change is done and workers were notified of due deliveries. */
    untilNotified: async (change: () => Promise<unknown>): Promise<void> => {
      let notified = (): void => undefined;
      const notification = new Promise<void>((resolve) => (notified = resolve));
      await api.sql.listen("svc_deliveries", () => notified());
      await Promise.all([change(), notification]);
    },
  };
}
