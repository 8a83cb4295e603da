import type { Sql } from "postgres";
import type { AdminCredentials, Page, EnvironmentRef } from "./access.js";
import { scalar, type Rows } from "./scalar.js";

/** The calls about projects and their ingestion keys. Each raises the errors that its SQL function names. */

/** Projects in the order of their slugs, each as `getProject` answers it. */
export function listProjects(sql: Sql, by: AdminCredentials, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_projects(
      ${by.tokenHash}, ${by.organizationId}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

/** Answers `{slug, name, createdAt, environments: {test: {activeVersion, activatedAt}, live: …}}`. */
export function getProject(sql: Sql, by: AdminCredentials, project: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_project(${by.tokenHash}, ${by.organizationId}, ${project})::text as answer`);
}

/** Keys, the newest first, each as `createKey` answers it. */
export function listKeys(sql: Sql, by: AdminCredentials, at: EnvironmentRef, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_keys(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

/** Answers `{id, name, hint, status, createdAt, createdBy, lastUsedAt, revokedAt}`. */
export function createKey(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  name: string,
  key: KeyDigest,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.create_key(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${name}, ${key.hash}, ${key.hint}
    )::text as answer`);
}

/** Replaces a key by a new one; the old one works for `graceSeconds` more: `{key, replaced: {id, revokedAt}}`. */
export function rotateKey(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  keyId: string,
  graceSeconds: number,
  key: KeyDigest,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.rotate_key(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${keyId}, ${graceSeconds}, ${key.hash}, ${key.hint}
    )::text as answer`);
}

/** Ends a key at once; answers it. */
export function revokeKey(sql: Sql, by: AdminCredentials, at: EnvironmentRef, keyId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.revoke_key(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${keyId}
    )::text as answer`);
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
  return scalar(sql<Rows>`
    select svc_api.create_project(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${project.name}, ${project.slug},
      ${keys.test.hash}, ${keys.test.hint}, ${keys.live.hash}, ${keys.live.hint}
    )::text as answer`);
}

export function getOverview(sql: Sql, by: AdminCredentials, at: EnvironmentRef): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_overview(${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment})::text as answer`);
}
