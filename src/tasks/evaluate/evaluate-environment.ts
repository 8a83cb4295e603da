import { call } from "../../db/api/call.js";
import type { ChunkLimits } from "../../db/api/evaluation.js";
import { isUnreachable, isDataFault, isEnvironmental } from "../../db/sqlstate.js";
import { Chunk, CHUNK_LIMITS, setAsideCustomer, type ChunkDependencies } from "./chunk.js";

/**
 * How it ended. `idle`: nothing waits or is due. `shouldContinue` returned false: `stopped` if work is left, otherwise `paused`. `busy`: two
 * others evaluate the environment. `away`: the database, or its node, could not be reached. `suspected`: an evaluation ended without an
 * outcome, so the next one must be a trial.
 */
export type EnvironmentOutcome = "idle" | "paused" | "stopped" | "busy" | "away" | "suspected";

/**
 * Evaluates an environment until nothing in it waits or is due, or until `shouldContinue`, called before each chunk that is not a retry,
 * returns false. Each chunk of customers is one transaction, so a crash leaves only whole chunks behind. It ends with a chunk that finds
 * nothing, and so sees what was committed during the chunk before.
 *
 * A chunk that cannot be read or written back is bisected: it is retried with half as many customers and operations, down to one
 * operation of one customer, who is set aside with the error. Faults of the database itself are thrown to the job, which is retried.
 */
export async function evaluateEnvironment(
  dependencies: ChunkDependencies & { limits?: ChunkLimits },
  environmentId: number,
  shouldContinue: () => boolean = () => true,
): Promise<EnvironmentOutcome> {
  const { sql, logger, limits: full = CHUNK_LIMITS } = dependencies;
  let limits = full;
  let isRetry = false;
  let leavesWork = false;
  while (isRetry || shouldContinue()) {
    isRetry = false;
    const chunk = new Chunk(dependencies, environmentId, { limits });
    try {
      const outcome = await chunk.run();
      if (outcome !== "done") return outcome;
      if (chunk.customerIds.length === 0) return "idle";
      leavesWork = chunk.leavesWork;
      // If the budget was spent before all were reached, the next chunk takes as many as were.
      const customers = chunk.reached < chunk.customerIds.length ? Math.max(1, chunk.reached) : limits.customers * 2;
      const operations = Math.min(full.operations, limits.operations * 2);
      limits = { customers: Math.min(full.customers, customers), operations };
    } catch (error) {
      // No customer was begun, so none can be at fault.
      if (!chunk.isBegun && isUnreachable(error)) {
        logger.warn(
          { err: error, environmentId },
          "an environment cannot be reached; the tick will request its evaluation",
        );
        return "away";
      }
      if (!isDataFault(error)) throw error;
      isRetry = true;
      if (limits.customers > 1 || limits.operations > 1) {
        limits = { customers: half(chunk.customerIds.length || limits.customers), operations: half(limits.operations) };
        continue;
      }
      const [customerId] = chunk.customerIds;
      if (customerId === undefined) throw error; // no customer is known to be at fault
      await setAsideCustomer(sql, environmentId, customerId, error, logger);
    }
  }
  return leavesWork ? "stopped" : "paused";
}

function half(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}

/**
 * Evaluates one chunk of a suspected environment. The trial is recorded beforehand, so that if it crashes or hangs the worker, the next one
 * is smaller, until the customer at fault is found and set aside.
 *
 * @returns whether a trial was made: another worker may be at one
 */
export async function runTrial(dependencies: ChunkDependencies, environmentId: number, workerId: string) {
  const { sql, logger } = dependencies;
  const trial = { environmentId, workerId };
  const begun = await call(sql, "begin_trial", trial, CHUNK_LIMITS);
  if (begun === null) return false;
  if (begun.suspended !== null) {
    logger.error(
      { environmentId },
      "a customer's evaluation repeatedly crashed or hung its worker, and the customer was set aside: see `svc customers list --set-aside`",
    );
  }
  const chunk = new Chunk(dependencies, environmentId, {
    limits: begun,
    onTaken: (customerIds) => call(sql, "record_trial", trial, customerIds, null),
  });
  let outcome: "done" | "busy" | "suspected";
  try {
    outcome = await chunk.run();
  } catch (error) {
    // The tried customers may be the cause, unless it is the state of the database or a model that cannot be read. They may cause even a lost
    // connection: a server restarts when one of its processes crashes.
    if (chunk.isBegun && !isEnvironmental(error)) await call(sql, "record_trial", trial, null, String(error));
    else await call(sql, "cancel_trial", trial);
    throw error;
  }
  if (outcome !== "done") {
    await call(sql, "cancel_trial", trial);
    return false;
  }
  await call(sql, "end_trial", trial, CHUNK_LIMITS);
  return true;
}
