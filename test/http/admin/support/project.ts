import { expect } from "vitest";
import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import { environmentId, snapshot, type Actor, type Reply, type Service } from "../../../support/service.js";

export const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

type Environment = "test" | "live";

/** A project, and what is asked of its configuration versions; by its owner unless told otherwise. */
export interface TestProject {
  slug: string;
  /** Deploys the small model of `snapshot` with changes; answers the version. */
  deploy(changes?: Partial<Snapshot>, env?: Environment, options?: object): Promise<Reply>;
  promote(version: string, body?: unknown, by?: Actor): Promise<Reply>;
  rollback(version: string, env?: Environment, body?: unknown, by?: Actor): Promise<Reply>;
  get(path: string, by?: Actor): Promise<Reply>;
  /** The versions in the activation log, the newest first. */
  activated(env?: Environment): Promise<string[]>;
  environmentId(env?: Environment): Promise<number>;
}

let projects = 0;

/** Creates a project of its own. */
export async function createProject(service: Service, owner: Actor): Promise<TestProject> {
  const slug = `project-${projects++}`;
  const reply = await service.request("POST", "/projects", { by: owner, body: { name: slug, slug } });
  expect(reply.status).toBe(201);
  const path = `/projects/${slug}`;
  const post = (rest: string, body: unknown, by = owner) => service.request("POST", path + rest, { by, body });
  return {
    slug,
    deploy: (changes = {}, env = "test", options = {}) =>
      post(`/config-versions?env=${env}`, { snapshot: snapshot(changes), ...options }),
    promote: (version, body = {}, by = owner) => post(`/config-versions/${version}/promote`, body, by),
    rollback: (version, env = "test", body = {}, by = owner) =>
      post(`/config-versions/${version}/rollback?env=${env}`, body, by),
    get: (rest, by = owner) => service.request("GET", path + rest, { by }),
    activated: async (env = "test") => {
      const { body } = await service.request("GET", `${path}/activations?env=${env}`, { by: owner });
      return (body as { data: { version: string }[] }).data.map(({ version }) => version);
    },
    environmentId: (env = "test") => environmentId(service.db.sql, slug, env),
  };
}

/** Models that differ in a segment. */
export const named = (id: string): Partial<Snapshot> => ({ segments: [{ id }] });
