/** The administrative API, as far as the demo needs it. */
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { isTemporary } from "../client/backoff.js";
import type { CustomerState, Emission, ListPage, Overview } from "../http/admin/answers.js";
import { DemoFailure, messageOf } from "./failure.js";
import type { Snapshot } from "../model/snapshot/types.js";

export type CustomerDocument = Pick<CustomerState, "customerId" | "lifecycle" | "traits" | "segments">;
export type TimelineEntry = Pick<Emission, "at" | "type" | "metadata" | "cause">;

/** Long enough for a killed service to recover its database and restart. */
const AWAY_MS_MAX = 180_000;
const RETRY_MS = 250;

export interface ApiOptions {
  url: string;
  accessToken: string;
  organizationId: string;
  signal: AbortSignal;
}

export class DemoApi {
  constructor(private readonly options: ApiOptions) {}

  /** Returns the key for the `test` environment. */
  async createProject(name: string, slug: string): Promise<string> {
    const { keys } = await this.post<{ keys: { test: string } }>("/projects", { name, slug });
    return keys.test;
  }

  /** Activates the snapshot in `test`. Returns the version's name. */
  async deploy(project: string, snapshot: Snapshot): Promise<string> {
    const { version } = await this.write<{ version: string }>({ snapshot }, project, "config-versions");
    return version;
  }

  /** Returns the webhook's id, and the secret that signs its deliveries. */
  createWebhook(project: string, url: string, eventTypes: string[]): Promise<{ id: string; secret: string }> {
    return this.write<{ id: string; secret: string }>({ url, eventTypes }, project, "webhooks");
  }

  /** Reads from a project's environment `test`; retries while the service is temporarily unavailable. */
  read<T>(project: string, ...parts: string[]): Promise<T> {
    return this.#get<T>(inTest(project, ...parts));
  }

  /** Changes something there; not retried. */
  write<T>(body: object, project: string, ...parts: string[]): Promise<T> {
    return this.post<T>(inTest(project, ...parts), body);
  }

  overview(project: string): Promise<Overview> {
    return this.read<Overview>(project, "overview");
  }

  customer(project: string, customerId: string): Promise<CustomerDocument> {
    return this.read<CustomerDocument>(project, "customers", customerId);
  }

  /** All of a customer's emissions, oldest first. */
  async timeline(project: string, customerId: string): Promise<TimelineEntry[]> {
    const entries: TimelineEntry[] = [];
    const address = inTest(project, "customers", customerId, "timeline");
    for (let next: string | null = address; next !== null;) {
      const { data, nextCursor }: ListPage<TimelineEntry> = await this.#get(next);
      entries.push(...data);
      next = nextCursor && `${address}&cursor=${encodeURIComponent(nextCursor)}`;
    }
    return entries;
  }

  /** Reads can be repeated, so they are retried while the service is temporarily unavailable. */
  async #get<T>(address: string): Promise<T> {
    for (const end = performance.now() + AWAY_MS_MAX; ;) {
      const answer = await this.#request("GET", address);
      const isFinal = answer.status !== null && !isTemporary(answer.status);
      if (isFinal || performance.now() > end) return parseAnswer("GET", address, answer) as T;
      await delay(RETRY_MS, undefined, { signal: this.options.signal });
    }
  }

  /** Not retried: a project whose creation got no answer may exist, with keys that were never seen. */
  async post<T>(address: string, body: unknown): Promise<T> {
    return parseAnswer("POST", address, await this.#request("POST", address, JSON.stringify(body))) as T;
  }

  async #request(method: "GET" | "POST", address: string, body: string | null = null): Promise<ApiAnswer> {
    const { url, accessToken, organizationId, signal } = this.options;
    const headers = {
      authorization: `Bearer ${accessToken}`,
      "x-svc-organization": organizationId,
      ...(body === null ? {} : { "content-type": "application/json" }),
    };
    try {
      const response = await request(url + address, { method, headers, body, signal });
      return { status: response.statusCode, text: await response.body.text() };
    } catch (error) {
      signal.throwIfAborted();
      return { status: null, text: messageOf(error) };
    }
  }
}

/** `status` is null if nothing answered; `text` then says why. */
interface ApiAnswer {
  status: number | null;
  text: string;
}

/** The document of a successful answer. Throws a DemoFailure for any other. */
function parseAnswer(method: string, address: string, { status, text }: ApiAnswer): unknown {
  if (status !== null && status >= 200 && status < 300) return JSON.parse(text);
  throw new DemoFailure(`${method} ${address} failed: ${status === null ? "" : `${status} `}${text.slice(0, 500)}`);
}

function inTest(project: string, ...parts: string[]): string {
  return `/projects/${[project, ...parts].map(encodeURIComponent).join("/")}?env=test`;
}
