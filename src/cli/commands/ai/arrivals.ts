import type { Finding, SchemaViolation } from "../../client/answers.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import type { Context } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { readList } from "../../output/list.js";

/** What of a model's events has come to an environment, and what else has. */
export interface Arrivals {
  environment: string;
  /** When each declared event last happened; null for one that never came. */
  lastAt: Record<string, string | null>;
  /** Names that came in the last 30 days and the model does not declare. */
  undeclared: string[];
  /** How what came violated the active version's schema. */
  violations: Pick<SchemaViolation, "configVersion" | "event" | "code" | "path" | "operations">[];
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
  const diagnostics = await api.get<{ data: Finding[] }>(["diagnostics"], ["data"]);
  const violations = await readList<SchemaViolation>(api, ["schema-violations"], { limit: VIOLATIONS_MAX });
  const names = Object.keys(snapshot.events);
  const lastAt: [string, string | null][] = [];
  for (let from = 0; from < names.length; from += ASKED_AT_ONCE) {
    const some = names.slice(from, from + ASKED_AT_ONCE);
    lastAt.push(
      ...(await Promise.all(some.map(async (name) => [name, await lastOf(name)] as [string, string | null]))),
    );
  }
  return {
    environment: settings.environment,
    lastAt: Object.fromEntries(lastAt),
    undeclared: undeclaredIn(diagnostics.data.data).filter((name) => !Object.hasOwn(snapshot.events, name)),
    violations: violations.data.data,
  };

  async function lastOf(type: string): Promise<string | null> {
    const { data } = await readList<{ occurredAt: string }>(api, ["events"], { type, limit: 1 });
    return data.data[0]?.occurredAt ?? null;
  }
}

/** The names that the service found; its active version may be another than the model here. */
function undeclaredIn(findings: readonly Finding[]): string[] {
  const details = findings.find(({ code }) => code === "EVENTS_UNDECLARED")?.details["events"];
  return Array.isArray(details) ? details.map((one) => String((one as { event?: unknown }).event)) : [];
}
