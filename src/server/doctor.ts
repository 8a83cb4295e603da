import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import type { Examination, InvariantViolation } from "../db/api/operator.js";
import { PROJECT_ROOT, readCommitted, readConstraints, readIndexNames } from "../db/migrate/files.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { readAsOperator } from "./operator.js";

/** `svc-server doctor`: checks every invariant and prints each violation with what to do; returns whether all is well. */
export async function doctorCommand(config: ServerConfig, logger: Logger, { json }: { json: boolean }) {
  const began = performance.now();
  // No timeout: it reads all tables, however large they are.
  const found = await readAsOperator(config, logger, examine, 0);
  const durationMs = Math.round(performance.now() - began);
  const isWell = found.violations.length === 0;
  process.stdout.write(
    json ? `${JSON.stringify({ isWell, durationMs, ...found })}\n` : examinationReport(found, durationMs),
  );
  return isWell;
}

/** `isNewer`: the database has a migration that this program does not know. */
type Report = Examination & { isNewer: boolean };

/** A dump without data has tables and functions, and no program would start on them. */
const NOT_RECORDED: InvariantViolation = {
  ...{ invariant: "migrations_are_recorded", organization: null, project: null, environment: null },
  holds: "The database records which migrations were executed.",
  violations: 1,
  examples: ["graphile_migrate.migrations has no row"],
  advice:
    "The database was restored without data. Restore the schemas graphile_migrate, graphile_worker and svc_migrate with their data, too.",
};

async function examine(sql: Sql): Promise<Report> {
  const found = await call(sql, "operator_examine");
  const newest = (await readCommitted(PROJECT_ROOT)).at(-1)?.filename ?? "";
  if (found.migration === null) return { ...found, violations: [NOT_RECORDED, ...found.violations], isNewer: false };
  // A later program may have removed some of those that this one knows.
  if (found.migration > newest) return { ...found, isNewer: true };
  const missing = [
    ...(await call(sql, "operator_check_indexes", await readIndexNames())),
    ...(await call(sql, "operator_check_constraints", await readConstraints())),
  ];
  return { ...found, checks: found.checks + 2, violations: [...missing, ...found.violations], isNewer: false };
}

/** The report for people; most of its sentences come from the database. */
export function examinationReport(found: Report, durationMs: number): string {
  const { checks, violations } = found;
  const broken = new Set(violations.map(({ invariant }) => invariant)).size;
  const time = `${(durationMs / 1_000).toFixed(1)} s`;
  const verdict =
    broken === 0
      ? `All is well: ${checks} checks in ${time}.`
      : `${broken} of ${checks} checks found something, in ${time}. Nothing was changed.`;
  return [...violations.flatMap((each) => [...violationInWords(each), ""]), verdict, ...statusLines(found)]
    .map((line) => `${line}\n`)
    .join("");
}

function violationInWords(violation: InvariantViolation): string[] {
  const { invariant, holds, organization, project, environment, violations, examples, advice } = violation;
  const place = organization === null ? "" : `  ${organization}/${project}, ${environment}`;
  const more = violations - examples.length;
  return [
    `${invariant}${place}`,
    `  violated: ${holds}`,
    ...examples.map((example) => `  - ${example}`),
    ...(more > 0 ? [`  - and ${more} more`] : []),
    `  what to do: ${advice}`,
  ];
}

/** Figures about the service that are not checks. */
function statusLines(found: Report): string[] {
  const { migration, isNewer, workersAlive, pendingOperations, pendingSince, setAsideCustomers } = found;
  return [
    "",
    `last migration: ${migration ?? "none"}${isNewer ? ", newer than this program, which did not check indexes, foreign keys and triggers" : ""}`,
    `workers alive: ${workersAlive}`,
    `operations that wait for a worker: ${pendingOperations}${pendingSince === null ? "" : `, the oldest since ${pendingSince}`}`,
    `customers set aside: ${setAsideCustomers}`,
    `webhooks disabled: ${found.disabledWebhooks}; failing: ${found.failingWebhooks}`,
    ...(found.frozenEnvironments === 0 ? [] : [`environments frozen, not counted above: ${found.frozenEnvironments}`]),
  ];
}
