import type { Sql } from "postgres";
import { call } from "../../src/db/api/call.js";
import { newCredential } from "../../src/http/request/credentials.js";

export interface TenantRequest {
  /** Sent as JSON; a string or bytes are sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
  /** URL of another process of the service than the one where the tenant was created. */
  to?: string;
}

/** The organization "acme" with the project "app", at a running service. */
export interface Tenant {
  organizationId: string;
  /** Token of the owner, owner@acme.example. */
  token: string;
  keys: { test: string; live: string };
  /** Sends a request as the owner. */
  admin: (method: string, path: string, request?: TenantRequest) => Promise<Response>;
  /** POST with the test key. */
  send: (path: string, body: unknown, request?: Omit<TenantRequest, "body">) => Promise<Response>;
}

/** Creates the organization in the database, and the project by the service that runs on it. */
export async function createTenant(sql: Sql, url: string): Promise<Tenant> {
  const { text: token, hash } = newCredential("token");
  const document = await call(sql, "bootstrap", "acme", "owner@acme.example", hash);
  const { organizationId } = JSON.parse(document) as { organizationId: string };
  const request = (method: string, path: string, { body, headers = {}, to = url }: TenantRequest): Promise<Response> =>
    fetch(to + path, {
      method,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
    });
  const owner = { Authorization: `Bearer ${token}`, "X-Svc-Organization": organizationId };
  const admin: Tenant["admin"] = (method, path, { headers, ...rest } = {}) =>
    request(method, path, { headers: { ...owner, ...headers }, ...rest });
  const project = await admin("POST", "/projects", { body: { name: "App", slug: "app" } });
  const { keys } = (await project.json()) as Pick<Tenant, "keys">;
  return {
    organizationId,
    token,
    keys,
    admin,
    send: (path, body, { headers, ...rest } = {}) =>
      request("POST", path, { body, headers: { Authorization: `Bearer ${keys.test}`, ...headers }, ...rest }),
  };
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === "string" || body instanceof Uint8Array;
