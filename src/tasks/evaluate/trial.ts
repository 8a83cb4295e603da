import { call } from "../../db/api/call.js";
import { nameTrial } from "../../db/api/evaluation.js";
import { isOfCircumstances } from "../../db/sqlstate.js";
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
  const begun = await call(sql, "begin_trial", trial, CHUNK_LIMITS);
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

/**
 * Whether an error may be for what was tried, rather than for the database as a whole or a model that cannot be read. A connection that is
 * lost may be: a server ends where one of its processes dies.
 */
function isOfWhatWasTried(error: unknown, { isBegun }: Chunk): boolean {
  return isBegun && !isOfCircumstances(error);
}
