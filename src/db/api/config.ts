import type { Sql } from "postgres";
import type { AdminCredentials, Page, EnvironmentRef } from "./access.js";
import { scalar, type Rows } from "./scalar.js";

/** The calls about configuration versions that are stored. Each raises the errors that its SQL function names. */

/** A version with its snapshot. @param version `v3`, or `latest`. */
export function getConfigVersion(sql: Sql, by: AdminCredentials, project: string, version: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_config_version(${by.tokenHash}, ${by.organizationId}, ${project}, ${version})::text as answer`);
}

/**
 * The versions of a comparison: `{from: {version, snapshot} | null, to: {version, snapshot}}`. Unless given, `to` is the newest version
 * and `from` the one before it.
 */
export function diffConfigVersions(
  sql: Sql,
  by: AdminCredentials,
  project: string,
  { from, to }: { from?: string | undefined; to?: string | undefined },
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.diff_config_versions(
      ${by.tokenHash}, ${by.organizationId}, ${project}, ${from ?? null}, ${to ?? null}
    )::text as answer`);
}

/** What a model may remember for one customer at most, in bytes. */
export function getStateLimit(
  sql: Sql,
  by: AdminCredentials,
  { operation, environment }: { operation: string; environment: string },
): Promise<number> {
  return scalar(sql<{ answer: number }[]>`
    select svc_api.get_state_limit(${by.tokenHash}, ${by.organizationId}, ${operation}, ${environment}) as answer`);
}

/** What is asked of an activation besides the version. */
export interface ActivationOptions {
  /** The version that must be active, 0 for none, null for any. */
  expected: number | null;
  /** Goes on despite warnings about data. */
  force: boolean;
}

/** Makes a version that was active in test the active one of live: `{version, hash, environment, activated, warnings}`. */
export function promoteConfig(
  sql: Sql,
  by: AdminCredentials,
  project: string,
  version: string,
  { expected, force }: ActivationOptions,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.promote_config(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${project}, ${version}, ${expected}, ${force}
    )::text as answer`);
}

/** Makes a version active again that was active in the environment before; answers as `promoteConfig` does. */
export function rollbackConfig(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  version: string,
  { expected, force }: ActivationOptions,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.rollback_config(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${version}, ${expected}, ${force}
    )::text as answer`);
}

/** Which version became active when and by whom, the newest first. */
export function listActivations(sql: Sql, by: AdminCredentials, at: EnvironmentRef, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_activations(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${page.limit}, ${page.cursor ?? null}
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
export function deployConfig(sql: Sql, by: AdminCredentials, at: EnvironmentRef, version: NewVersion): Promise<string> {
  const provenance = version.provenance && JSON.stringify(version.provenance);
  return scalar(sql<Rows>`
    select svc_api.deploy_config(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${version.snapshot}, ${version.hash}, ${provenance}::text::jsonb, ${version.expected ?? null}, ${version.force ?? false}
    )::text as answer`);
}

export function listConfigVersions(sql: Sql, by: AdminCredentials, at: EnvironmentRef, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_config_versions(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
