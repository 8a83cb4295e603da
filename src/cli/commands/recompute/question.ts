import type { RecomputeOrPreview, Usage } from "../../../http/admin/answers.js";
import { shouldAsk, confirmation } from "../../output/confirmation.js";
import type { Context } from "../../core/command.js";
import { activeVersion } from "../config/stored-versions.js";
import { kindOf, scopeOf } from "./jobs.js";
import { formatNumber, plural, printable, shellWord } from "../../../words/text.js";

const DERIVED = "lifecycle, journeys, segments, health and rule log are derived anew, and differences are emitted";

/**
 * Describes the recompute that repeats a dry run, and asks, unless it is a dry run again. Does nothing for an id that is no dry run: the
 * service refuses it.
 */
export async function confirmFrom(
  context: Context,
  dryRun: RecomputeOrPreview,
  { again, yes }: { again: boolean; yes: boolean },
): Promise<void> {
  if (!dryRun.dry_run) return;
  const pinned = `${pinsOf(context, dryRun)}, as in the dry run ${dryRun.id}`;
  const kind = again ? "Dry run" : "Recompute";
  if (again || !shouldAsk(context, yes)) context.out.note(`${kind} of ${scopeOf(dryRun)} ${pinned}.`);
  if (!again) warnOfUnfinished(context, dryRun);
  await warnOfOtherVersion(context, dryRun, again);
  if (!again) await confirm(context, dryRun.customerId ?? null, { yes, pinned: ` ${pinned}` });
}

/**
 * Describes the retry of a recompute, and asks as before the recompute itself. Does nothing for one that was not given up: the service
 * refuses it.
 */
export async function confirmRetry(context: Context, job: RecomputeOrPreview, yes: boolean): Promise<void> {
  if (job.status !== "dead_letter") return;
  const { customersDone: done, customersTotal: total } = job.progress;
  const reached = total === null ? "" : `; ${formatNumber(done)} of ${formatNumber(total)} customers are done`;
  const pinned = pinsOf(context, job);
  if (job.dry_run || !shouldAsk(context, yes)) {
    context.out.note(`${kindOf(job)} ${job.id} of ${scopeOf(job)} ${pinned}${reached}.`);
  }
  await warnOfOtherVersion(context, job, job.dry_run);
  if (!job.dry_run)
    await confirm(context, job.customerId ?? null, { yes, pinned: ` ${pinned}, as ${job.id} was queued${reached}` });
}

/** Asks before a recompute is queued; for all customers (null) the user types the environment's name. @param pinned an earlier pinning, if any */
export async function confirm(
  context: Context,
  customer: string | null,
  { yes, pinned = "" }: { yes: boolean; pinned?: string },
): Promise<void> {
  const { environment, place } = context.settings;
  const action = customer === null ? `recomputing all customers of ${environment}` : "recomputing a customer";
  const word = customer === null ? ({ word: environment, yesSuffices: true } as const) : {};
  const ask = await confirmation(context, { action, yes, ...word });
  const lost = pinned === "" && shouldAsk(context, yes) ? await lossByRetention(context) : "";
  await ask(
    customer === null
      ? `This recomputes all customers in ${place}${pinned}: their ${DERIVED}.${lost}`
      : `Recompute the customer ${printable(customer)} in ${place}${pinned}? Its ${DERIVED}.${lost}`,
  );
}

/** That a recompute forgets what removed events led to, if the plan limits how long events are kept. A dry run has shown it. */
async function lossByRetention({ api }: Context): Promise<string> {
  const { data } = await api.get<Usage>("/organization/usage", ["limits"]);
  const { retentionDays: days } = data.limits;
  if (days === null) return "";
  return ` Events are kept for ${plural(days, "day")}: what earlier ones led to will be gone, which --dry-run shows without doing it.`;
}

function pinsOf({ out }: Context, { pins }: RecomputeOrPreview): string {
  return `under ${pins.configVersion ?? "no model"}, as of ${out.at(pins.evaluatedAt)}`;
}

/** Warns if a dry run has not shown everything, because it is under way, was given up or cancelled. */
function warnOfUnfinished({ out }: Context, { status, progress }: RecomputeOrPreview): void {
  if (status === "completed") return;
  const { customersDone: done, customersTotal: total } = progress;
  const reached = total === null ? "no customer" : `${formatNumber(done)} of ${formatNumber(total)} customers`;
  out.note(`${out.errorStyle.yellow("warning")}: the dry run looked at ${reached}; more may change than it shows`);
}

/** Warns if another version is active than the pinned one. */
async function warnOfOtherVersion(context: Context, job: RecomputeOrPreview, dryRun: boolean): Promise<void> {
  const { out } = context;
  const { environment } = context.settings;
  const active = await activeVersion(context);
  const pinned = job.pins.configVersion;
  if (active === pinned) return;
  const [was, is] = [pinned ?? "no model", active ?? "no model"];
  const what = dryRun
    ? `this uses ${was}, but ${is} is active in ${environment} now`
    : `customers will have states under ${was} while ${is} is active in ${environment}`;
  const scope = typeof job.customerId === "string" ? `--customer ${shellWord(job.customerId)}` : "--all";
  const instead = `for ${is}, queue a new dry run: ${out.typed(`svc recompute ${scope} --dry-run --env ${environment}`)}`;
  out.note(`${out.errorStyle.yellow("warning")}: ${what}; ${instead}`);
}
