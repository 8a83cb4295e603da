import { setTimeout as delay } from "node:timers/promises";

/** After a part that took minutes, which few do. */
const REST_MS_MAX = 10_000;

/** Does a part of some work in a transaction of its own, then rests as long as that took, ten seconds at most. */
type Rested = <T>(part: () => Promise<T>) => Promise<T>;

/**
 * Goes through environments with work that comes in short transactions, and rests after each as long as it took, so that it never has
 * more than half of one connection's time. Where it begins is drawn by lot, so that one environment with much to do does not keep the
 * others waiting for ever.
 *
 * @param signal ends it after the transaction at hand; what is left is for the next time
 * @param msMax after how many milliseconds the rest is left to the next time, too
 * @param work is told the environment, how to do a part, and whether there is time for another one
 * @throws the first failure, after the other environments had their turn
 */
export async function inEachEnvironment(
  ids: readonly number[],
  { signal, msMax }: { signal: AbortSignal; msMax: number },
  work: (id: number, rested: Rested, goesOn: () => boolean) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const end = performance.now() + msMax;
  const goesOn = () => !signal.aborted && performance.now() < end;
  const rested: Rested = async (part) => {
    const began = performance.now();
    const answer = await part();
    await delay(Math.min(performance.now() - began, REST_MS_MAX), undefined, { signal }).catch(() => undefined);
    return answer;
  };
  const first = Math.floor(Math.random() * ids.length);
  for (const id of [...ids.slice(first), ...ids.slice(0, first)]) {
    if (!goesOn()) break;
    await work(id, rested, goesOn).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Does a part again and again until one finds nothing, or `goesOn` says no; the sum of what they answered. */
export async function untilNothing(part: () => Promise<number>, goesOn: () => boolean): Promise<number> {
  let sum = 0;
  for (let found = -1; found !== 0 && goesOn(); sum += found) found = await part();
  return sum;
}
