import { call } from "../../db/api/call.js";
import type { ChunkLimits } from "../../db/api/evaluation.js";
import { isAway, isDataFault, isOfCircumstances } from "../../db/sqlstate.js";
import { Chunk, CHUNK_LIMITS, setAsideCustomer, type ChunkDependencies } from "./chunk.js";

/**
 * How it ended: nothing waits or is due; `goesOn` said no, `stopped` where much is left and `paused` where there was little to do; two others
 * evaluate the environment; the database, or its node, could not be reached; or one of its evaluations ended without an outcome, so that the next one is to be a trial.
 */
export type EnvironmentOutcome = "idle" | "paused" | "stopped" | "busy" | "away" | "suspected";

/**
 * Evaluates an environment until nothing of it waits or is due, or until `goesOn`, asked before each chunk that is not a second try,
 * says no. Each chunk of customers is one transaction, so a crash anywhere leaves whole chunks behind. The last look finds nothing to
 * do: what was committed while the chunk before ran is seen by it.
 *
 * A chunk that cannot be read or written back is bisected: it is tried again with half as many customers and operations, until one
 * operation of one customer is at fault, which is set aside with its error. Faults of the database itself go to the job, which is retried.
 */
export async function evaluateEnvironment(
  dependencies: ChunkDependencies & { limits?: ChunkLimits },
  environmentId: number,
  goesOn: () => boolean = () => true,
): Promise<EnvironmentOutcome> {
  const { sql, logger, limits: full = CHUNK_LIMITS } = dependencies;
  let limits = full;
  let tryAgain = false;
  let leavesWork = false;
  while (tryAgain || goesOn()) {
    tryAgain = false;
    const chunk = new Chunk(dependencies, environmentId, { limits });
    try {
      const outcome = await chunk.run();
      if (outcome !== "done") return outcome;
      if (chunk.customerIds.length === 0) return "idle";
      leavesWork = chunk.leavesWork;
      // Where the budget was spent before all had their turn, as many are taken as had it.
      const customers = chunk.reached < chunk.customerIds.length ? Math.max(1, chunk.reached) : limits.customers * 2;
      const operations = Math.min(full.operations, limits.operations * 2);
      limits = { customers: Math.min(full.customers, customers), operations };
    } catch (error) {
      // Nobody was taken whose fault it could be.
      if (!chunk.isBegun && isAway(error)) {
        logger.warn(
          { err: error, environmentId },
          "an environment cannot be reached; the tick asks for its evaluation",
        );
        return "away";
      }
      if (!isDataFault(error)) throw error;
      tryAgain = true;
      if (limits.customers > 1 || limits.operations > 1) {
        limits = { customers: half(chunk.customerIds.length || limits.customers), operations: half(limits.operations) };
        continue;
      }
      const [customerId] = chunk.customerIds;
      if (customerId === undefined) throw error; // nobody is known to be at fault
      await setAsideCustomer(sql, environmentId, customerId, error, logger);
    }
  }
  return leavesWork ? "stopped" : "paused";
}

function half(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}

/**
 * Evaluates one chunk of a suspected environment. It is written down before it is tried, so that where it ends the worker, or has no end, the
 * next trial is smaller, until the customer at fault is found and set aside.
 *
 * @returns whether there was something to try: another worker may be at it
 */
export async function tryEvaluation(dependencies: ChunkDependencies, environmentId: number, workerId: string) {
  const { sql, logger } = dependencies;
  const trial = { environmentId, workerId };
  const begun = await call(sql, "begin_trial", trial, CHUNK_LIMITS);
  if (begun === null) return false;
  if (begun.suspended !== null) {
    logger.error(
      { environmentId },
      "a customer's evaluation ended or hung its worker again and again, and the customer was set aside: see `svc customers list --set-aside`",
    );
  }
  const chunk = new Chunk(dependencies, environmentId, {
    limits: begun,
    onTaken: (customerIds) => call(sql, "name_trial", trial, customerIds, null),
  });
  let outcome: "done" | "busy" | "suspected";
  try {
    outcome = await chunk.run();
  } catch (error) {
    // It may be for what was tried, rather than for the database as a whole or a model that cannot be read. A connection that is lost may be:
    // a server ends where one of its processes dies.
    if (chunk.isBegun && !isOfCircumstances(error)) await call(sql, "name_trial", trial, null, String(error));
    else await call(sql, "leave_trial", trial);
    throw error;
  }
  if (outcome !== "done") {
    await call(sql, "leave_trial", trial);
    return false;
  }
  await call(sql, "end_trial", trial, CHUNK_LIMITS);
  return true;
}
