import type { Overview } from "./commands/overview.js";
import { plural } from "./text.js";

/** One kind of violation of a schema that is not strict, by accepted operations. */
export interface SchemaViolation {
  configVersion: string;
  /** Null for traits. */
  event: string | null;
  code: string;
  path: string;
  operations: number;
  firstSeenAt: string;
  lastSeenAt: string;
  lastEventId: string | null;
  lastCustomerId: string | null;
}

/** What the service tells of an environment. */
export interface Facts {
  overview: Overview;
  /** Of the active version: what violated an earlier one was corrected, or violates the active one again. */
  violations: readonly SchemaViolation[];
  /** Whether there are more of them. */
  moreViolations: boolean;
}

/** Something that is wrong in an environment; with `--json` it is printed as it is. */
export interface Problem {
  code: "CONFIGURATION_MISSING" | "SCHEMA_VIOLATIONS" | "CUSTOMERS_SET_ASIDE" | "OPERATIONS_WAITING";
  /** A sentence. */
  message: string;
  /** What to do, in sentences. */
  fix: string;
  /** How many customers or operations it is about. */
  customers?: number;
  operations?: number;
  violations?: readonly SchemaViolation[];
  moreViolations?: boolean;
}

/** A check answers the problem that it looks for, or null where there is none. */
type Check = (facts: Facts) => Problem | null;

/** In the order in which problems are told. */
const CHECKS: readonly Check[] = [configurationMissing, schemaViolations, customersSetAside, operationsWaiting];

/** Everything that is wrong. */
export function diagnose(facts: Facts): Problem[] {
  return CHECKS.map((check) => check(facts)).filter((problem) => problem !== null);
}

function configurationMissing({ overview: { environment, configVersion } }: Facts): Problem | null {
  if (configVersion !== null) return null;
  return {
    code: "CONFIGURATION_MISSING",
    message: `No configuration is deployed in ${environment}: any event and any trait is taken, and nothing is derived of them.`,
    fix: `Deploy a model: svc deploy --env ${environment}`,
  };
}

function schemaViolations({ overview: { configVersion }, violations, moreViolations }: Facts): Problem | null {
  if (violations.length === 0) return null;
  const ways = `${moreViolations ? "more than " : ""}${plural(violations.length, "way")}`;
  return {
    code: "SCHEMA_VIOLATIONS",
    message: `Accepted operations violate the schema of the active version ${configVersion} in ${ways}.`,
    fix: "Correct what sends them, or declare in the model what they hold and deploy it. A strict schema (strictSchema: true) refuses them.",
    violations,
    moreViolations,
  };
}

function customersSetAside({ overview: { environment, customersSetAside: customers } }: Facts): Problem | null {
  if (customers === 0) return null;
  return {
    code: "CUSTOMERS_SET_ASIDE",
    message: `${plural(customers, "customer is", "customers are")} set aside because their evaluation failed; their operations wait.`,
    fix:
      `See why: svc customers list --set-aside --env ${environment}. ` +
      `Once the cause is mended, release them: svc customers release --all --env ${environment}`,
    customers,
  };
}

function operationsWaiting({ overview: { events, customersSetAside: customers } }: Facts): Problem | null {
  const operations = events.pending - events.ahead;
  if (operations <= 0) return null;
  const among = customers === 0 ? "" : ", those of customers that are set aside included";
  return {
    code: "OPERATIONS_WAITING",
    message: `${plural(operations, "operation waits", "operations wait")} to be evaluated${among}.`,
    fix: "This is usual for some seconds after they were accepted. If the number does not fall, check that a worker runs: GET /readyz of the service says so.",
    operations,
  };
}
