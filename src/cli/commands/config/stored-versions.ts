import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Activation, ConfigDiff, ConfigVersionWithSnapshot, ListPage } from "../../../http/admin/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import type { Context } from "../../core/command.js";
import { failure, UsageError, UserError } from "../../core/errors.js";

/** A version with its snapshot. */
export type Version = Omit<ConfigVersionWithSnapshot, "snapshot"> & { snapshot: Snapshot };

/** The required option that names a version. */
export const versionOption = {
  version: { type: "text", required: true, describe: "The version, such as v3" },
} as const;

export const VERSION_NAME = /^v[1-9]\d{0,8}$/;

/** Checks the name of a version. @throws {UsageError} */
export function checkVersion(name: string, { given, latest = false }: { given: string; latest?: boolean }): void {
  if (VERSION_NAME.test(name) || (latest && name === "latest")) return;
  const meant = /^[1-9]\d{0,8}$/.test(name) ? `; did you mean v${name}?` : "";
  const fix = `give a version such as v3${latest ? ", or latest" : ""}; \`svc config versions\` lists the versions`;
  throw new UsageError(`${given} is ${JSON.stringify(name)}${meant}`, fix);
}

/** Handles a failed request for `name`: the latest version only lacks if nothing was ever deployed to the project. */
function withoutLatest({ settings }: Context, name: string) {
  return (error: unknown): never => {
    const isNone = name === "latest" && error instanceof UserError && error.code === "VERSION_NOT_FOUND";
    if (!isNone) throw error;
    const message = `nothing was deployed to project ${settings.project} yet`;
    throw failure("NOTHING_DEPLOYED", message, "deploy a model first: `svc deploy`", error);
  };
}

/** Versions belong to the project, not to an environment. */
const ALL = { env: undefined };

/** A version with its snapshot, in canonical order. @throws {UserError} if this version of svc cannot read it */
export async function getVersion(context: Context, name: string): Promise<Version> {
  const { api, settings } = context;
  const members = ["version", "hash", "active", "snapshot"] as const;
  const { data } = await api
    .get<ConfigVersionWithSnapshot>(["config-versions", name], members, ALL)
    .catch(withoutLatest(context, name));
  // Commands that name a version in their options need none of it.
  const { parseSnapshot } = await import("../../../model/validate/validate.js");
  const parsed = parseSnapshot(data.snapshot);
  if (parsed.ok) return { ...data, snapshot: parsed.snapshot };
  const { path: place, message } = parsed.problems[0]!;
  const why = [place, message].filter((part) => part !== "").join(": ");
  const reason = `${settings.apiUrl} has a ${data.version} that this version of svc cannot read: ${why}`;
  throw failure("UNEXPECTED_ANSWER", reason, "use the svc of the service's version");
}

/** Compares two versions of the service. */
export function getDiff(context: Context, from: string, to: string): Promise<ApiAnswer<ConfigDiff>> {
  return context.api
    .get<ConfigDiff>(["config-diff"], ["from", "to", "changes"], { ...ALL, from, to })
    .catch(withoutLatest(context, from));
}

/** The version that is active in an environment, the current one unless given; null if none is. */
export async function activeVersion({ api, settings }: Context, env = settings.environment): Promise<string | null> {
  const { data } = await api.get<ListPage<Activation>>(["activations"], ["data", "nextCursor"], { env, limit: 1 });
  return data.data[0]?.version ?? null;
}
