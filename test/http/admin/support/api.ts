import type { Sql } from "postgres";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { AppDeps } from "../../../../src/http/app.js";
import {
  environmentId,
  startService,
  type Actor,
  type Reply,
  type Service,
  type ServiceOptions,
} from "../../../support/service.js";

/** An instant in the format of answers. */
export const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
export const TEXT = expect.any(String) as string;

/** The essential members of a refusal: test/http/documented-errors.test.ts checks each code's texts. */
export function refused(status: number, code: string, more: object = {}): { status: number; body: object } {
  return { status, body: { error: { code, ...more } } };
}

/** A VALIDATION_ERROR of this field with this message. */
export function invalid(field?: string, message?: string | RegExp): ReturnType<typeof refused> {
  return refused(400, "VALIDATION_ERROR", {
    ...(field !== undefined && { field }),
    ...(message !== undefined && { message: message instanceof RegExp ? expect.stringMatching(message) : message }),
  });
}

export const NO_CURSOR = invalid("cursor", "The cursor is not one of this list.");

export type Environment = "test" | "live";

export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** All items of a list that `read` returns in pages, of `limit` items if given, and the size of each page. */
export async function pages<T>(read: (query: string) => Promise<Page<T>>, query = "", limit?: number) {
  const found: { items: T[]; sizes: number[] } = { items: [], sizes: [] };
  for (let cursor: string | null = ""; cursor !== null;) {
    const parts = [query, limit && `limit=${limit}`, cursor && `cursor=${encodeURIComponent(cursor)}`].filter(Boolean);
    const page: Page<T> = await read(parts.join("&"));
    found.items.push(...page.data);
    found.sizes.push(page.data.length);
    cursor = page.nextCursor;
  }
  return found;
}

/** A service with the organization acme and a project of it, to which requests refer. */
export class Api {
  service!: Service;
  /** Owner of acme. */
  owner!: Actor;
  slug = "app";
  /** The project's keys, as shown at its creation. */
  keys!: { test: string; live: string };
  #projects = 0;

  get sql(): Sql {
    return this.service.db.sql;
  }

  async start(overrides: Partial<AppDeps>, options: ServiceOptions): Promise<void> {
    this.service = await startService(overrides, options);
    this.owner = await this.service.owner("acme");
  }

  /** Creates a project, to which requests refer from then on. */
  async newProject(slug = `p${this.#projects++}`): Promise<void> {
    this.slug = slug;
    const body = { name: "App", slug };
    const made = await this.service.request("POST", "/projects", { by: this.owner, body });
    expect(made.status).toBe(201);
    this.keys = (made.body as { keys: Api["keys"] }).keys;
  }

  /** Creates another organization with a project of the same slug; returns its owner. */
  async stranger(slug = `stranger-${this.slug}`): Promise<Actor> {
    const by = await this.service.owner(slug);
    await this.service.request("POST", "/projects", { by, body: { name: "Same", slug: this.slug } });
    return by;
  }

  /** A request below the project, by default of acme's owner. */
  readonly ask = (method: string, path: string, body?: unknown, by = this.owner): Promise<Reply> =>
    this.service.request(method, `/projects/${this.slug}${path}`, { by, ...(body === undefined ? {} : { body }) });
  readonly get = (path: string, by?: Actor): Promise<Reply> => this.ask("GET", path, undefined, by);
  readonly post = (path: string, body: unknown = {}, by?: Actor): Promise<Reply> => this.ask("POST", path, body, by);

  /** A request about the organization, by default of acme's owner. */
  readonly organization = (method: string, path: string, body?: unknown, by = this.owner): Promise<Reply> =>
    this.service.request(method, `/organization${path}`, { by, ...(body === undefined ? {} : { body }) });

  /** The body of an answer that has to be 200. */
  readonly read = async <T>(path: string): Promise<T> => {
    const { status, body } = await this.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body as T;
  };

  /** A whole list, page by page. */
  readonly readAll = <T>(path: string, limit?: number): ReturnType<typeof pages<T>> => {
    const [address = "", query] = path.split("?");
    return pages((parts) => this.read<Page<T>>(`${address}?${parts}`), query, limit);
  };

  /** The text of an answer. */
  readonly text = async (path: string): Promise<string> => {
    const { token, organizationId } = this.owner;
    const headers = { Authorization: `Bearer ${token}`, "X-Svc-Organization": organizationId };
    const response = await fetch(`${this.service.url}/projects/${this.slug}${path}`, { headers });
    expect(response.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
    return response.text();
  };

  readonly environmentId = (env: Environment = "test"): Promise<number> => environmentId(this.sql, this.slug, env);

  /** The project's audit entries whose actions have this prefix, oldest first. */
  readonly audit = async (action: string): Promise<object[]> => [
    ...(await this.sql`
      select action, project, environment, target, details, actor, request_id from iam.audit_log
      where project = ${this.slug} and action like ${`${action}.%`} order by audit_seq`),
  ];

  /** An audit entry for an action of acme's owner in test. */
  readonly entry = (action: string, target: string | null, details: object, environment = "test"): object => {
    const by = { actor: "owner@acme.example", request_id: "req" };
    return { action, project: this.slug, environment, target, details, ...by };
  };
}

/** Starts the service before a file's tests, with the project `app`, a new project for each test, or none. */
export function useApi(
  projects: "one" | "each" | "none" = "one",
  overrides: Partial<AppDeps> = {},
  options: ServiceOptions = {},
): Api {
  const api = new Api();
  beforeAll(async () => {
    await api.start(overrides, options);
    if (projects === "one") await api.newProject("app");
  });
  if (projects === "each") beforeEach(() => api.newProject());
  afterAll(() => api.service.stop());
  return api;
}
