import type { Context } from "../../core/command.js";
import { memberTexts } from "../../../words/json-text.js";
import type { JobDifference, RecomputeOrPreview } from "../../../http/admin/answers.js";
import { readAll } from "../../client/pages.js";
import { printable } from "../../../words/text.js";

/**
 * Why a job was given up, cancelled or failed, without the service's advice to retry it: the CLI gives that advice itself, with `--env`. A
 * stored error of a former release says `mended`.
 */
export function jobFailure({ error }: Pick<RecomputeOrPreview, "error">): string | null {
  return error?.replace(/ (?:When the cause is (?:fixed|mended)|To resume it): svc recompute retry \S+$/, "") ?? null;
}

/** `Recompute` or `Dry run`. */
export function kindOf({ dry_run }: RecomputeOrPreview): string {
  return dry_run ? "Dry run" : "Recompute";
}

/** `all customers in test`. */
export function scopeOf({ customerId, environment }: RecomputeOrPreview): string {
  const whom = typeof customerId === "string" ? `the customer ${printable(customerId)}` : "all customers";
  return `${whom} in ${environment}`;
}

/** The members that every answer with a job must have. */
export const JOB_MEMBERS = ["id", "status", "dry_run", "pins", "progress", "result"] as const;

/** A page of differences: as data, and as the received JSON text of its items, with all digits. */
export interface DifferencePage {
  items: JobDifference[];
  text: string;
}

/** The customers that a job changes, those that change most first, page by page. @param path of the job @param limit all unless given */
export async function* differencesOf(
  { api }: Context,
  path: readonly string[],
  limit?: number,
): AsyncGenerator<DifferencePage> {
  const pages = readAll<JobDifference>(api, [...path, "customers"], { limit }, { patient: "all" });
  for await (const { data, text } of pages) {
    yield { items: data.data, text: memberTexts(text).get("data")?.slice(1, -1).trim() ?? "" };
  }
}

/**
 * The whole job as one JSON document, with every customer in `result.customers`. @param more further members of `result`, called after the
 * last customer
 */
export async function* documentOf(
  job: RecomputeOrPreview,
  pages: AsyncIterable<DifferencePage>,
  more: () => Record<string, unknown> = () => ({}),
): AsyncGenerator<string> {
  const { result, ...rest } = job;
  yield `${JSON.stringify(rest).slice(0, -1)},"result":${JSON.stringify(result).slice(0, -1)},"customers":[`;
  let separator = "";
  for await (const { items, text } of pages) {
    if (items.length === 0) continue;
    yield separator + text;
    separator = ",";
  }
  const members = Object.entries(more()).map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`);
  yield `]${members.join("")}}}`;
}
