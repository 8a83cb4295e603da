import type { BacktestJob, Preview, Recompute } from "../../../http/admin/answers.js";
import { formatNumber, span } from "../../../words/text.js";
import { Ago } from "../../parts.js";

/** A recompute, a preview or a backtest. */
export type Job = Recompute | Preview | BacktestJob;

/** Whether it has not come to its end. */
export function isUnderWay({ status }: Job): boolean {
  return status !== "completed" && status !== "dead_letter";
}

const STATUSES: Readonly<Record<Job["status"], { text: string; class?: string }>> = {
  queued: { text: "waits for its turn" },
  running: { text: "is running" },
  retrying: { text: "failed, and is tried again", class: "warning" },
  completed: { text: "completed", class: "good" },
  dead_letter: { text: "given up", class: "critical" },
};

/** How it stands; how long it took, or when it is tried again. */
export function JobStatus({ job: { status, startedAt, finishedAt, nextAttemptAt } }: { job: Job }) {
  const { text, class: kind } = STATUSES[status];
  return (
    <>
      <span class={kind}>{text}</span>
      {status === "completed" && startedAt !== null && finishedAt !== null
        ? ` in ${span(Date.parse(finishedAt) - Date.parse(startedAt)) ?? "less than a second"}`
        : null}
      {nextAttemptAt === null ? null : (
        <>
          {" "}
          <Ago iso={nextAttemptAt} />
        </>
      )}
    </>
  );
}

/** Customers that are done; of how many, where that is known. */
export function JobProgress({ job: { progress, status } }: { job: Job }) {
  const { customersDone: done, customersTotal: total } = progress;
  const text = `${formatNumber(done)}${total === null ? "" : ` of ${formatNumber(total)}`} customers`;
  if (status === "completed" || total === null || total === 0) return <>{text}</>;
  return (
    <>
      <progress max={total} value={done} aria-label={text} /> {text}
    </>
  );
}
