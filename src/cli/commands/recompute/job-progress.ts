import type { RecomputeJob } from "../../client/answers.js";
import { Presets, SingleBar } from "cli-progress";

import type { Io, Out } from "../../output/out.js";
import { localTime, number, printable } from "../../output/text.js";

/** Shows how far a job is: a bar where standard error is a terminal; elsewhere only what somebody must know who reads it later. */
export class JobProgress {
  readonly #io: Io;
  readonly #out: Out;
  #bar: SingleBar | undefined;
  /** The first look at it while it ran: when, and how far it was. */
  #since: { at: number; done: number } | undefined;
  /** The failure that was told last. */
  #told = "";

  constructor(io: Io, out: Out) {
    this.#io = io;
    this.#out = out;
  }

  show(job: RecomputeJob): void {
    if (this.#io.stderr.isTTY === true) this.#draw(job);
    else this.#tellFailure(job);
  }

  /** Leaves the terminal as it was. */
  stop(): void {
    this.#bar?.stop();
  }

  #draw(job: RecomputeJob): void {
    const { customersTotal: total, customersDone: done } = job.progress;
    if (total === null) return;
    this.#since ??= { at: this.#io.now(), done };
    const payload = { rate: this.#rate(done), note: noteOf(job, this.#out.timeZone) };
    if (this.#bar === undefined) {
      const format = "{bar} {percentage} % | {value}/{total} customers{rate}{note}";
      const stream = this.#io.stderr;
      this.#bar = new SingleBar({ format, stream, barsize: 30, hideCursor: true }, Presets.shades_classic);
      this.#bar.start(Math.max(1, total), done, payload);
    }
    // Of nobody, all are done as soon as it is completed.
    const value = job.status === "completed" ? Math.max(1, total) : Math.min(done, total);
    this.#bar.update(value, payload);
  }

  #rate(done: number): string {
    const { at, done: before } = this.#since!;
    const seconds = (this.#io.now() - at) / 1000;
    return seconds < 1 || done <= before ? "" : ` | ${number(Math.round((done - before) / seconds))}/s`;
  }

  #tellFailure(job: RecomputeJob): void {
    const note = noteOf(job, this.#out.timeZone);
    if (note === "" || note === this.#told) return;
    this.#told = note;
    this.#out.note(`${job.id}${note}`);
  }
}

function noteOf({ status, error, nextAttemptAt }: RecomputeJob, timeZone: string | undefined): string {
  if (status !== "retrying") return "";
  const when = nextAttemptAt === null ? "again" : `again at ${localTime(nextAttemptAt, timeZone)}`;
  return ` | it failed and is tried ${when}: ${printable(error ?? "unknown")}`;
}
