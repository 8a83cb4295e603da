import { call } from "../../db/api/call.js";
import { CHUNK_LIMITS, type ChunkDependencies } from "./chunk.js";
import { evaluateEnvironment, runTrial, type EnvironmentOutcome } from "./evaluate-environment.js";

interface Job {
  environmentId: number;
  /** An earlier attempt at the job failed or never ended. */
  isRetry: boolean;
}

/** The length of an environment's turn; remaining work is queued behind the other environments. */
const TURN_MS = 300;
/** A turn that takes longer waits for a lock or reads long histories: a second turn can evaluate other customers meanwhile. */
const LONG_MS = 1_000;
/** Smaller chunks while other environments have turns at the same time. */
const SHARED_LIMITS = { customers: 100, operations: 1_000 };
/** Delay before another try at an environment that others evaluate. */
const AGAIN_AFTER_MS = 100;

/**
 * The turns of environments in this worker. An environment has one turn at a time, and a second one if no other environment has a turn and
 * the last turn left work or the current one takes long. Jobs that arrive meanwhile are dropped, because the current turn checks again
 * before it ends; if it fails, the tick requests an evaluation.
 */
export class EvaluationTurns {
  /** By environment: when its current turns began (ms, monotonic). */
  readonly #underWay = new Map<number, number[]>();
  readonly #lookAgain = new Set<number>();
  /** Environments whose last turn left work. */
  readonly #backlogs = new Set<number>();
  /** Environments for which a job is about to be added. */
  readonly #postponed = new Set<number>();

  /** @param options.workerId the id of this worker's heartbeats and locks */
  constructor(
    private readonly dependencies: ChunkDependencies,
    private readonly options: { workerId: string; isStopping: () => boolean },
  ) {}

  async take({ environmentId, isRetry }: Job): Promise<void> {
    if (isRetry) {
      const reason = "An evaluation of this environment failed.";
      await call(this.dependencies.sql, "suspect_environment", environmentId, reason);
    }
    if (!this.#mayBegin(environmentId)) {
      this.#lookAgain.add(environmentId);
      return;
    }
    const beganAt = performance.now();
    const underWay = this.#underWay.get(environmentId) ?? [];
    this.#underWay.set(environmentId, underWay);
    underWay.push(beganAt);
    let outcome: EnvironmentOutcome;
    try {
      outcome = await this.#turn(environmentId);
    } finally {
      underWay.splice(underWay.indexOf(beganAt), 1);
      if (underWay.length === 0) this.#underWay.delete(environmentId);
    }
    if (outcome === "busy") {
      // The others may have read the inbox before the latest operations arrived.
      this.#postpone(environmentId);
    } else if (outcome === "stopped") {
      this.#backlogs.add(environmentId);
      // A second turn in parallel: while one waits for the database, the other evaluates.
      const isAlone = this.#underWay.size === 0;
      await this.#continue(environmentId, isAlone ? 2 : 1);
    } else {
      this.#backlogs.delete(environmentId);
      if (outcome === "paused") await this.#continue(environmentId, 0);
    }
  }

  /** Queues as many turns; without any, the environment is looked at again. */
  async #continue(environmentId: number, turns: 0 | 1 | 2): Promise<void> {
    await call(this.dependencies.sql, "continue_evaluation", environmentId, turns);
  }

  /**
   * Adds the job after a delay, rather than at once a job with a later due time: workers are not notified when a job becomes due, and until
   * one of them polls, it would keep other jobs from being added (svc.request_evaluation). If the process ends before, another worker's tick
   * finds what waits.
   */
  #postpone(environmentId: number): void {
    if (this.#postponed.has(environmentId)) return;
    this.#postponed.add(environmentId);
    setTimeout(() => {
      this.#postponed.delete(environmentId);
      if (this.options.isStopping()) return;
      const { logger } = this.dependencies;
      this.#continue(environmentId, 0).catch((err: unknown) => {
        logger.warn({ err, environmentId }, "an evaluation could not be requested; the next tick will do it");
      });
    }, AGAIN_AFTER_MS);
  }

  #mayBegin(environmentId: number): boolean {
    const [first, second] = this.#underWay.get(environmentId) ?? [];
    if (first === undefined) return true;
    if (second !== undefined || this.#underWay.size > 1) return false;
    return this.#backlogs.has(environmentId) || performance.now() - first > LONG_MS;
  }

  async #turn(environmentId: number): Promise<EnvironmentOutcome> {
    const endsAt = performance.now() + TURN_MS;
    const shouldContinue = () => performance.now() < endsAt && !this.options.isStopping();
    for (;;) {
      this.#lookAgain.delete(environmentId);
      const limits = this.#underWay.size === 1 ? CHUNK_LIMITS : SHARED_LIMITS;
      const outcome = await evaluateEnvironment({ ...this.dependencies, limits }, environmentId, shouldContinue);
      if (outcome === "suspected") return this.#try(environmentId);
      const hasSeenAll = outcome === "idle" || outcome === "busy";
      if (!hasSeenAll || !this.#lookAgain.has(environmentId)) return outcome;
    }
  }

  /** One trial at a time: a parallel one could cause the other's failure. */
  async #try(environmentId: number): Promise<EnvironmentOutcome> {
    if (this.#underWay.get(environmentId)?.length !== 1) return "idle";
    const isTried = await runTrial(this.dependencies, environmentId, this.options.workerId);
    return isTried ? "stopped" : "busy";
  }
}
