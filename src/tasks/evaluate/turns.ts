import type { AddJobFunction } from "graphile-worker";
import { call } from "../../db/api/call.js";
import { CHUNK_LIMITS, type ChunkDependencies } from "./chunk.js";
import { evaluateEnvironment, tryEvaluation, type EnvironmentOutcome } from "./evaluate-environment.js";

interface Job {
  environmentId: number;
  /** An attempt at the job had no end, or failed. */
  isRetry: boolean;
  addJob: AddJobFunction;
}

/** How long an environment has its turn; what is left goes behind the others. */
const TURN_MS = 300;
/** A turn that lasts so long waits for a lock, or reads long histories: others than its customers do not wait for it. */
const LONG_MS = 1_000;
/** Chunks are smaller where others have their turns at the same time. */
const SHARED_LIMITS = { customers: 100, operations: 1_000 };
/** After those that have little to do, which come with priority 0. */
const BACKLOG_PRIORITY = 10;
/** After which an environment is looked at again that others are at. */
const AGAIN_AFTER_MS = 100;

/**
 * The turns of environments in this worker. One environment has one at a time, and a second one where the last one left work, or the present
 * one lasts long, and no other environment has a turn. Jobs that come meanwhile are dropped, because who has the turn looks again at its end;
 * where it fails, the tick does.
 */
export class EvaluationTurns {
  /** By environment: when its turns that are under way began (ms, monotonic). */
  readonly #underWay = new Map<number, number[]>();
  readonly #lookAgain = new Set<number>();
  /** Environments whose last turn left work. */
  readonly #backlogs = new Set<number>();
  /** Environments for which a job is added in a moment. */
  readonly #postponed = new Set<number>();

  /** @param options.workerId under which this worker's heartbeats and locks are known */
  constructor(
    private readonly dependencies: ChunkDependencies,
    private readonly options: { workerId: string; isStopping: () => boolean },
  ) {}

  async take({ environmentId, isRetry, addJob }: Job): Promise<void> {
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
    if (outcome === "stopped") {
      this.#backlogs.add(environmentId);
      const isAlone = this.#underWay.size === 0;
      const next = { priority: BACKLOG_PRIORITY };
      await addJob("evaluate", { environmentId }, next);
      // A second turn beside the first: while one waits for the database, the other evaluates. One of them waits in the queue at most.
      if (isAlone) await addJob("evaluate", { environmentId }, { ...next, jobKey: `second turn of ${environmentId}` });
    } else if (outcome !== "busy") this.#backlogs.delete(environmentId);
    if (outcome === "paused") await addJob("evaluate", { environmentId });
    // Who is at it may have looked before the last of what is there came.
    if (outcome === "busy") this.#postpone(environmentId, addJob);
  }

  /**
   * Adds the job when it is due, rather than one that is due later: nobody is notified when a job becomes due, and until one of the workers
   * polls, it would keep others from being added (svc.request_evaluation). Where the process ends before that, the tick of another finds
   * what waits.
   */
  #postpone(environmentId: number, addJob: AddJobFunction): void {
    if (this.#postponed.has(environmentId)) return;
    this.#postponed.add(environmentId);
    setTimeout(() => {
      this.#postponed.delete(environmentId);
      if (this.options.isStopping()) return;
      const { logger } = this.dependencies;
      addJob("evaluate", { environmentId }).catch((err: unknown) => {
        logger.warn({ err, environmentId }, "an evaluation could not be asked for; the next tick does it");
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
    const goesOn = () => performance.now() < endsAt && !this.options.isStopping();
    for (;;) {
      this.#lookAgain.delete(environmentId);
      const limits = this.#underWay.size === 1 ? CHUNK_LIMITS : SHARED_LIMITS;
      const outcome = await evaluateEnvironment({ ...this.dependencies, limits }, environmentId, goesOn);
      if (outcome === "suspected") return this.#try(environmentId);
      const hasLookedAtAll = outcome === "idle" || outcome === "busy";
      if (!hasLookedAtAll || !this.#lookAgain.has(environmentId)) return outcome;
    }
  }

  /** One trial at a time: what is tried beside another could be what fails that. */
  async #try(environmentId: number): Promise<EnvironmentOutcome> {
    if (this.#underWay.get(environmentId)?.length !== 1) return "idle";
    const isTried = await tryEvaluation(this.dependencies, environmentId, this.options.workerId);
    return isTried ? "stopped" : "busy";
  }
}
