import type { Sql } from "postgres";
import { one, type Rows } from "./one.js";

/**
 * The calls of the administrative API. Each is one round trip that checks the credential too, and answers with JSON text: the order of
 * its members is fixed, and numbers in it may exceed a double. Each raises the errors that its SQL function names.
 */
export interface AdminCredentials {
  /** SHA-256 of the access token. */
  tokenHash: Buffer;
  organizationId: string;
  /** For the audit log. */
  requestId: string;
}

/** An environment by its names. */
export interface Place {
  /** Slug of the project. */
  project: string;
  environment: "test" | "live";
}

/** Which part of a list; without a cursor, its beginning. */
export interface Page {
  limit: number;
  cursor?: string | undefined;
}

/**
 * Makes sure that an organization and its owner exist and adds an access token: `{organizationId}`. Needs the migrating user, not
 * the service's role.
 */
export function bootstrap(sql: Sql, organizationSlug: string, email: string, tokenHash: Buffer): Promise<string> {
  return one(sql<Rows>`select svc_api.bootstrap(${organizationSlug}, ${email}, ${tokenHash})::text as answer`);
}

/** Raises unless the token may do an operation of `iam.operations()`; the operation itself checks again. */
export async function authorizeRequest(
  sql: Sql,
  by: AdminCredentials,
  operation: string,
  environment: string | null,
): Promise<void> {
  await sql`select svc_api.authorize_request(${by.tokenHash}, ${by.organizationId}, ${operation}, ${environment})`;
}

export function whoami(sql: Sql, by: AdminCredentials): Promise<string> {
  return one(sql<Rows>`select svc_api.whoami(${by.tokenHash}, ${by.organizationId})::text as answer`);
}

/** A key without the key. */
export interface KeyDigest {
  hash: Buffer;
  hint: string;
}

/** Answers `{slug, name, createdAt}`. */
export function createProject(
  sql: Sql,
  by: AdminCredentials,
  project: { name: string; slug: string },
  keys: { test: KeyDigest; live: KeyDigest },
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.create_project(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${project.name}, ${project.slug},
      ${keys.test.hash}, ${keys.test.hint}, ${keys.live.hash}, ${keys.live.hint}
    )::text as answer`);
}

export interface NewVersion {
  /** Canonical JSON of a validated snapshot. */
  snapshot: string;
  /** SHA-256 of that text, in hexadecimal. */
  hash: string;
  provenance: object | null;
  /** The version that must be active, 0 for none; any unless given. */
  expected?: number | null;
  /** Goes on despite warnings about data. */
  force?: boolean;
}

/** Answers `{version, hash, environment, activated, created, warnings}`. */
export function deployConfig(sql: Sql, by: AdminCredentials, at: Place, version: NewVersion): Promise<string> {
  const provenance = version.provenance && JSON.stringify(version.provenance);
  return one(sql<Rows>`
    select svc_api.deploy_config(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${version.snapshot}, ${version.hash}, ${provenance}::text::jsonb, ${version.expected ?? null}, ${version.force ?? false}
    )::text as answer`);
}

export function listConfigVersions(sql: Sql, by: AdminCredentials, at: Place, page: Page): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_config_versions(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getCustomer(sql: Sql, by: AdminCredentials, at: Place, customerId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_customer(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** What waits for a customer's evaluation: `{pending, ahead, setAside: {at, error} | null}`. */
export function customerBacklog(sql: Sql, by: AdminCredentials, at: Place, customerId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.customer_backlog(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** Gives a customer that was set aside, or all of them (null), back to evaluation: `{released}`. */
export function releaseCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  customerId: string | null,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.release_customers(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

export interface CustomerFilters {
  lifecycle?: string | undefined;
  segment?: string | undefined;
  /** Without an event for at least this long. */
  inactiveSeconds?: number | undefined;
  /** Those that were set aside. */
  setAside?: boolean | undefined;
}

export function listCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  filters: CustomerFilters,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_customers(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment},
      ${filters.lifecycle ?? null}, ${filters.segment ?? null}, ${filters.inactiveSeconds ?? null},
      ${filters.setAside ?? null},      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function customerTimeline(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  customerId: string,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.customer_timeline(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getSegment(sql: Sql, by: AdminCredentials, at: Place, segment: string, page: Page): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_segment(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${segment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getOverview(sql: Sql, by: AdminCredentials, at: Place): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_overview(${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment})::text as answer`);
}

/** How accepted operations violated a schema that was not strict, newest version first; of one version where it is named. */
export function listSchemaViolations(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  version: number | null,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_schema_violations(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${version}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
