import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Context } from "../../core/context.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import type { Finding } from "../diagnose.js";
import { readList } from "../../output/list.js";

/** What of a model's events has come to an environment, and what else has. */
export interface Arrivals {
  environment: string;
  /** When each declared event last happened; null for one that never came. */
  lastAt: Record<string, string | null>;
  /** Names that came in the last 30 days and the model does not declare. */
  undeclared: string[];
  /** How what came violated the active version's schema. */
  violations: SchemaViolation[];
}

export interface SchemaViolation {
  configVersion: string;
  event: string | null;
  code: string;
  path: string;
  operations: number;
}

const ASKED_AT_ONCE = 8;
const VIOLATIONS_MAX = 50;

/** Where nobody is signed in, or the service is not there, what came is not known; a model can be looked at all the same. */
const UNKNOWN: readonly string[] = [
  "NOT_SIGNED_IN",
  "PROJECT_REQUIRED",
  "ORGANIZATION_REQUIRED",
  "SERVICE_UNREACHABLE",
] satisfies LocalCode[];

/** What came to the environment; the failure where that cannot be known here. */
export async function readArrivals(context: Context, snapshot: Snapshot): Promise<Arrivals | UserError> {
  try {
    return await arrivals(context, snapshot);
  } catch (error) {
    if (error instanceof UserError && UNKNOWN.includes(error.code)) return error;
    throw error;
  }
}

async function arrivals({ api, settings }: Context, snapshot: Snapshot): Promise<Arrivals> {
  const env = settings.environment;
  const diagnostics = await api.get<{ data: Finding[] }>(api.projectPath("diagnostics"), ["data"], { env });
  const violations = await readList<SchemaViolation>(
    api,
    api.projectPath("schema-violations"),
    { env },
    { limit: VIOLATIONS_MAX, cursor: undefined },
  );
  const names = Object.keys(snapshot.events);
  const lastAt: [string, string | null][] = [];
  for (let from = 0; from < names.length; from += ASKED_AT_ONCE) {
    const some = names.slice(from, from + ASKED_AT_ONCE);
    lastAt.push(
      ...(await Promise.all(some.map(async (name) => [name, await lastOf(name)] as [string, string | null]))),
    );
  }
  return {
    environment: env,
    lastAt: Object.fromEntries(lastAt),
    undeclared: undeclaredIn(diagnostics.data.data).filter((name) => !Object.hasOwn(snapshot.events, name)),
    violations: violations.data.data,
  };

  async function lastOf(type: string): Promise<string | null> {
    const newest = { limit: 1, cursor: undefined };
    const { data } = await readList<{ occurredAt: string }>(api, api.projectPath("events"), { env, type }, newest);
    return data.data[0]?.occurredAt ?? null;
  }
}

/** The names that the service found; its active version may be another than the model here. */
function undeclaredIn(findings: readonly Finding[]): string[] {
  const details = findings.find(({ code }) => code === "EVENTS_UNDECLARED")?.details["events"];
  return Array.isArray(details) ? details.map((one) => String((one as { event?: unknown }).event)) : [];
}
