import { beginTrial, endTrial, leaveTrial, nameTrial } from "../../db/api/evaluation.js";
import { Chunk, CHUNK_LIMITS, type ChunkDependencies } from "./chunk.js";

/**
 * Evaluates one chunk of a suspected environment. It is written down before it is tried, so that where it ends the worker, or has no end, the
 * next trial is smaller, until the customer at fault is found and set aside.
 *
 * @returns whether there was something to try: another worker may be at it
 */
export async function tryEvaluation(
  dependencies: ChunkDependencies,
  environmentId: number,
  workerId: string,
): Promise<boolean> {
  const { sql, logger } = dependencies;
  const trial = { environmentId, workerId };
  const begun = await beginTrial(sql, trial, CHUNK_LIMITS);
  if (begun === null) return false;
  if (begun.suspended !== null) {
    logger.error({ environmentId }, "a customer was set aside, because its evaluation has no end");
  }
  const chunk = new Chunk(dependencies, environmentId, {
    limits: begun,
    onTaken: (customerIds) => nameTrial(sql, trial, { customerIds }),
  });
  let outcome: "done" | "busy" | "suspected";
  try {
    outcome = await chunk.run();
  } catch (error) {
    if (isOfWhatWasTried(error, chunk)) await nameTrial(sql, trial, { reason: String(error) });
    else await leaveTrial(sql, trial);
    throw error;
  }
  if (outcome !== "done") {
    await leaveTrial(sql, trial);
    return false;
  }
  await endTrial(sql, trial, CHUNK_LIMITS);
  return true;
}

/**
 * Whether an error may be for what was tried, rather than for the database as a whole: a lack of room or of connections, transactions that
 * conflict, a model that cannot be read. A connection that is lost may be: a server ends where one of its processes dies.
 */
function isOfWhatWasTried(error: unknown, { isBegun }: Chunk): boolean {
  const { code = "" } = error as { code?: string };
  return isBegun && !/^(25|40|53[134]|55|58|SV)/.test(code);
}
