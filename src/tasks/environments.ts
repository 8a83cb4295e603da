import { setTimeout as delay } from "node:timers/promises";

/** Limits the rest after a part that took minutes, which is rare. */
const REST_MS_MAX = 10_000;

/** Does a part of the work, one short transaction, then rests as long as that took, ten seconds at most. */
type Rested = <T>(part: () => Promise<T>) => Promise<T>;

/**
 * Does work for each environment in short transactions, and rests after each as long as it took, so that it never takes more than half of
 * one connection's time. It begins with a random environment, so that one with much to do does not keep the others waiting forever.
 *
 * @param signal ends it after the current transaction; the rest is left to the next run
 * @param msMax time limit, after which the rest is left to the next run too
 * @param work gets the environment, a function that does a part, and one that says whether to continue
 * @throws the first failure, after the other environments had their turn
 */
export async function forEachEnvironment(
  ids: readonly number[],
  { signal, msMax }: { signal: AbortSignal; msMax: number },
  work: (id: number, rested: Rested, shouldContinue: () => boolean) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const end = performance.now() + msMax;
  const shouldContinue = () => !signal.aborted && performance.now() < end;
  const rested: Rested = async (part) => {
    const began = performance.now();
    const answer = await part();
    await delay(Math.min(performance.now() - began, REST_MS_MAX), undefined, { signal }).catch(() => undefined);
    return answer;
  };
  const first = Math.floor(Math.random() * ids.length);
  for (const id of [...ids.slice(first), ...ids.slice(0, first)]) {
    if (!shouldContinue()) break;
    await work(id, rested, shouldContinue).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Repeats a part until it returns 0 or `shouldContinue` returns false; returns the sum. */
export async function repeatUntilZero(part: () => Promise<number>, shouldContinue: () => boolean): Promise<number> {
  let sum = 0;
  for (let count = -1; count !== 0 && shouldContinue(); sum += count) count = await part();
  return sum;
}
