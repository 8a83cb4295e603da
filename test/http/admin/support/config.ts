import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import { snapshot, type Actor, type Reply } from "../../../support/service.js";
import { useApi, type Environment } from "./api.js";

/** The configuration versions of a new project for each test. */
export function useConfig() {
  const api = useApi("each");
  /** Deploys the small model of `snapshot` with changes. */
  const deploy = (changes: Partial<Snapshot> = {}, env: Environment = "test", options: object = {}): Promise<Reply> =>
    api.post(`/config-versions?env=${env}`, { snapshot: snapshot(changes), ...options });
  return {
    api,
    deploy,
    /** Deploys models that differ in a segment, one after the other. */
    deployAll: async (...segments: string[]): Promise<void> => {
      for (const segment of segments) await deploy(named(segment));
    },
    promote: (version: string, body: unknown = {}, by?: Actor): Promise<Reply> =>
      api.post(`/config-versions/${version}/promote`, body, by),
    rollback: (version: string, env: Environment = "test", body: unknown = {}): Promise<Reply> =>
      api.post(`/config-versions/${version}/rollback?env=${env}`, body),
    /** The versions in the activation log, the newest first. */
    activated: async (env: Environment = "test"): Promise<string[]> => {
      const { data } = await api.read<{ data: { version: string }[] }>(`/activations?env=${env}`);
      return data.map(({ version }) => version);
    },
  };
}

/** Models that differ in a segment. */
export const named = (id: string): Partial<Snapshot> => ({ segments: [{ id }] });
