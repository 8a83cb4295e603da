import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import { snapshot, type Actor, type Reply } from "../../../support/service.js";
import { useApi, type Api, type Environment } from "./api.js";

/** The configuration versions of a project that is new in each test. */
export interface ConfigApi {
  api: Api;
  /** Deploys the small model of `snapshot` with changes. */
  deploy: (changes?: Partial<Snapshot>, env?: Environment, options?: object) => Promise<Reply>;
  /** Deploys models that differ in a segment, one after the other. */
  deployAll: (...segments: string[]) => Promise<void>;
  promote: (version: string, body?: unknown, by?: Actor) => Promise<Reply>;
  rollback: (version: string, env?: Environment, body?: unknown) => Promise<Reply>;
  /** The versions in the activation log, the newest first. */
  activated: (env?: Environment) => Promise<string[]>;
}

export function useConfig(): ConfigApi {
  const api = useApi("each");
  const deploy: ConfigApi["deploy"] = (changes = {}, env = "test", options = {}) =>
    api.post(`/config-versions?env=${env}`, { snapshot: snapshot(changes), ...options });
  return {
    api,
    deploy,
    deployAll: async (...segments) => {
      for (const segment of segments) await deploy(named(segment));
    },
    promote: (version, body = {}, by) => api.post(`/config-versions/${version}/promote`, body, by),
    rollback: (version, env = "test", body = {}) => api.post(`/config-versions/${version}/rollback?env=${env}`, body),
    activated: async (env = "test") => {
      const { data } = await api.read<{ data: { version: string }[] }>(`/activations?env=${env}`);
      return data.map(({ version }) => version);
    },
  };
}

/** Models that differ in a segment. */
export const named = (id: string): Partial<Snapshot> => ({ segments: [{ id }] });
