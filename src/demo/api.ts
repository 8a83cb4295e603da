/** The administrative API, as far as the demo needs it. */
import { request } from "undici";
import { DemoFailure } from "./failure.js";
import { isTemporary, retryAfterMs } from "../client/retry.js";
import { DEFAULT_POLICY, networkFailure, withRetries, type RetryAttempt } from "./retry.js";
import type { Snapshot } from "../model/snapshot/types.js";

export interface ProjectOverview {
  environment: string;
  configVersion: string;
  customers: number;
  /** Customers of whom something is due that has not been evaluated yet: a timer, or a pending identify. */
  customersDue: number;
  events: { accepted: number; pending: number };
  lifecycle: { state: string; customers: number; everEntered: number }[];
  segments: { segment: string; members: number }[];
  webhooks: { delivered: number; pending: number; failed: number };
  /** By type. */
  emissions: Record<string, number>;
}

export interface RecomputeDocument {
  id: string;
  status: string;
  error: string | null;
  attempt: number;
  progress: { customersTotal: number | null; customersDone: number };
  result: {
    customersChanged: number;
    lifecycleChanged: number;
    segmentsEntered: number;
    segmentsExited: number;
    emissions: number;
  };
}

export interface TimelineEntry {
  /** ISO 8601. */
  at: string;
  type: string;
  source: string;
  metadata: Record<string, unknown>;
  /** What it was caused by; `type` is event, identify, timer or job. */
  cause: { type: string };
}

export interface CustomerDocument {
  customerId: string;
  lifecycle: string | null;
  lastEventAt: string | null;
  traits: Record<string, unknown>;
  segments: string[];
}

export interface ApiOptions {
  url: string;
  accessToken: string;
  organizationId: string;
  /** Ends all waiting. */
  signal: AbortSignal;
}

export class DemoApi {
  constructor(private readonly options: ApiOptions) {}

  /** Returns the key for the `test` environment. */
  async createProject(name: string, slug: string): Promise<string> {
    const { keys } = await this.#post<{ keys: { test: string } }>("/projects", { name, slug });
    return keys.test;
  }

  /** Activates the snapshot in `test`. Returns the version's name. */
  async deploy(project: string, snapshot: Snapshot): Promise<string> {
    const { version } = await this.#post<{ version: string }>(`${path(project)}/config-versions?env=test`, {
      snapshot,
    });
    return version;
  }

  /** Returns what it is named by, and the secret that signs the deliveries. */
  async createWebhook(project: string, url: string, eventTypes: string[]): Promise<{ id: string; secret: string }> {
    return this.#post<{ id: string; secret: string }>(`${path(project)}/webhooks?env=test`, { url, eventTypes });
  }

  /** Makes what waits for its next attempt due now. */
  async resendPending(project: string, webhook: string): Promise<void> {
    for (let cursor: string | null = ""; cursor !== null;) {
      const span: object = {
        since: "1970-01-01T00:00:00Z",
        statuses: ["pending"],
        ...(cursor === "" ? {} : { cursor }),
      };
      const answer: { nextCursor: string | null } = await this.#post(
        `${path(project)}/webhooks/${encodeURIComponent(webhook)}/resend?env=test`,
        span,
      );
      cursor = answer.nextCursor;
    }
  }

  /** Queues a recompute of all customers, or a dry run of one. */
  recompute(project: string, dryRun: boolean): Promise<RecomputeDocument> {
    return this.#post<RecomputeDocument>(`${path(project)}/recomputes?env=test`, { all: true, dryRun });
  }

  recomputeJob(project: string, id: string): Promise<RecomputeDocument> {
    return this.#get<RecomputeDocument>(`${path(project)}/recomputes/${encodeURIComponent(id)}?env=test`);
  }

  overview(project: string): Promise<ProjectOverview> {
    return this.#get<ProjectOverview>(`${path(project)}/overview?env=test`);
  }

  customer(project: string, customerId: string): Promise<CustomerDocument> {
    return this.#get<CustomerDocument>(`${path(project)}/customers/${encodeURIComponent(customerId)}?env=test`);
  }

  /** All of a customer's emissions, oldest first. */
  async timeline(project: string, customerId: string): Promise<TimelineEntry[]> {
    const entries: TimelineEntry[] = [];
    const address = `${path(project)}/customers/${encodeURIComponent(customerId)}/timeline?env=test`;
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: { data: TimelineEntry[]; nextCursor: string | null } = await this.#get(
        cursor === "" ? address : `${address}&cursor=${encodeURIComponent(cursor)}`,
      );
      entries.push(...page.data);
      cursor = page.nextCursor;
    }
    return entries;
  }

  /** Reading can be repeated, so a service that is away for a moment is waited for. */
  #get<T>(address: string): Promise<T> {
    return withRetries(() => this.#attempt<T>("GET", address), { ...DEFAULT_POLICY, signal: this.options.signal });
  }

  /** Not repeated: a project whose creation got no answer may exist, with keys that nobody saw. */
  async #post<T>(address: string, body: unknown): Promise<T> {
    const outcome = await this.#attempt<T>("POST", address, body);
    if (outcome.done) return outcome.value;
    throw new DemoFailure(`POST ${address} failed: ${outcome.again}`);
  }

  async #attempt<T>(method: "GET" | "POST", address: string, body?: unknown): Promise<RetryAttempt<T>> {
    const { url, accessToken, organizationId, signal } = this.options;
    let status: number;
    let text: string;
    let retryAfter: number | null;
    try {
      const response = await request(url + address, {
        method,
        headers: {
          authorization: `Bearer ${accessToken}`,
          "x-svc-organization": organizationId,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      });
      status = response.statusCode;
      retryAfter = retryAfterMs(response.headers["retry-after"], Date.now());
      text = await response.body.text();
    } catch (error) {
      signal.throwIfAborted();
      return networkFailure(error);
    }
    if (status >= 200 && status < 300) return { done: true, value: JSON.parse(text) as T };
    const said = `${status} ${text.slice(0, 500)}`;
    if (isTemporary(status)) return { done: false, again: said, retryAfterMs: retryAfter };
    throw new DemoFailure(`${method} ${address} failed: ${said}`);
  }
}

function path(project: string): string {
  return `/projects/${encodeURIComponent(project)}`;
}
