import type { Logger } from "pino";
import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import type { RecomputeJob } from "../../db/api/recompute.js";
import { isReadOnly, isJobTakenOver } from "../../db/sqlstate.js";
import { Models } from "../../evaluation/models.js";
import { FailureLog } from "../failure-log.js";
import { Wakeup } from "../wakeup.js";
import { CustomerFailed, TakenOver, errorText } from "./job-customers.js";
import { runJob } from "./run-job.js";

export interface RecomputerOptions {
  /** For reading. */
  sql: Sql;
  /** Opens the connection that holds and writes a job: a single one, queried each second and so never closed for being idle. */
  openSession: () => Sql;
  /** A job is given up after this many failures in a row without progress. */
  attemptsMax: number;
  /** How often a running job looks whether it keeps other organizations waiting. */
  yieldMs?: number;
  /** The pause after a first failure; it doubles with each. */
  pauseMs?: number;
  logger: Logger;
}

export type Recomputer = ReturnType<typeof startRecomputer>;

/** Concurrent jobs of this process: one that runs for an hour does not keep other projects waiting. */
const JOBS = 2;
const LOOK_MS = 1_000;
const PAUSE_MS = 1_000;
/** Long compared with what another attempt costs. */
const YIELD_MS = 10_000;

/** Runs waiting recomputes, dry runs, previews and backtests. */
export function startRecomputer(options: RecomputerOptions) {
  let stopping = false;
  const models = new Models();
  const failures = new FailureLog(options.logger, "error", "recomputes could not be claimed; trying again");
  const slots = Array.from({ length: JOBS }, () => new Slot(options, { models, failures }, () => !stopping));
  const done = slots.map((slot) => slot.work());
  const wake = () => slots.forEach(({ wakeup }) => wakeup.call());
  return {
    /** Looks for a job now, instead of at the next poll. */
    wake,
    /** Finishes the current chunks, then resolves; other workers continue the jobs. */
    async stop() {
      stopping = true;
      wake();
      await Promise.all(done);
    },
  };
}

/** Runs one job at a time, on its own connection. */
class Slot {
  readonly wakeup = new Wakeup();
  #session: Sql;

  constructor(
    private readonly options: RecomputerOptions,
    private readonly shared: { models: Models; failures: FailureLog },
    private readonly shouldContinue: () => boolean,
  ) {
    this.#session = options.openSession();
  }

  async work(): Promise<void> {
    const { failures } = this.shared;
    while (this.shouldContinue()) {
      const job = await this.#claim().catch(async (error: unknown) => {
        failures.failed(error);
        if (isReadOnly(error)) await this.#renewSession();
        return null;
      });
      if (job === null) await this.wakeup.sleep(LOOK_MS);
      else await this.#do(job);
    }
    await this.#session.end({ timeout: 5 });
  }

  async #claim(): Promise<RecomputeJob | null> {
    const job = await call(this.#session, "claim_job", this.options.attemptsMax);
    this.shared.failures.succeeded();
    return job;
  }

  /** To be called while no job is held. */
  async #renewSession(): Promise<void> {
    await this.#session.end({ timeout: 5 });
    this.#session = this.options.openSession();
  }

  async #do(job: RecomputeJob): Promise<void> {
    const { sql, logger } = this.options;
    const { recomputeId, environmentId, attempt, kind } = job;
    const fields = { recomputeId, environmentId, attempt, kind };
    logger.info(fields, "a recompute begins");
    const yielding = this.#watchOthers(job);
    const shouldContinue = () => this.shouldContinue() && !yielding.isDue;
    try {
      const isDone = await runJob({ session: this.#session, sql, models: this.shared.models }, job, shouldContinue);
      logger.info(fields, isDone ? "a recompute was completed" : "a recompute waits for another worker");
    } catch (error) {
      if (error instanceof TakenOver || isJobTakenOver(error)) {
        logger.warn(fields, "a recompute was cancelled, or taken over by another worker");
      } else await this.#fail(job, fields, error);
    } finally {
      clearInterval(yielding.timer);
    }
    // A lost connection has released the job already.
    await call(this.#session, "release_recompute", job).catch((error: unknown) => {
      logger.warn({ ...fields, err: error }, "a recompute could not be released");
    });
  }

  /** Looks whether the job should be left, because its organization's jobs keep those of another one waiting. */
  #watchOthers({ recomputeId, environmentId }: RecomputeJob): { isDue: boolean; timer: NodeJS.Timeout } {
    const { sql, logger, yieldMs = YIELD_MS } = this.options;
    const look = () => {
      call(sql, "should_yield_job", environmentId).then(
        (should) => (yielding.isDue ||= should),
        (err: unknown) => logger.debug({ recomputeId, err }, "a recompute did not learn whether others wait"),
      );
    };
    const yielding = { isDue: false, timer: setInterval(look, yieldMs) };
    return yielding;
  }

  async #fail(job: RecomputeJob, about: object, error: unknown): Promise<void> {
    const { attemptsMax, pauseMs = PAUSE_MS, logger } = this.options;
    const text = error instanceof CustomerFailed ? error.message : `The run failed: ${errorText(error)}`;
    const sentence = text.endsWith(".") ? text : `${text}.`;
    const failed = call(this.#session, "fail_recompute", job, sentence, attemptsMax, pauseMs / 1_000);
    const status = await failed.catch((failure: unknown) => {
      logger.warn({ recomputeId: job.recomputeId, err: failure }, "the failure of a recompute could not be recorded");
      return null;
    });
    // The job's error names the customer; the log must not.
    const err: unknown = error instanceof CustomerFailed ? error.cause : error;
    const fields = { ...about, err };
    if (status === "dead_letter")
      logger.error(fields, "a recompute failed and was given up: see `svc recompute status`");
    else logger.warn(fields, "a recompute failed, and will be tried again");
  }
}
