import { call } from "../db/api/call.js";
import type { PlanLimits } from "../db/api/operator.js";
import { ConfigError, type ServerConfig } from "./config.js";
import { bytesInWords } from "../model/snapshot/limits.js";
import type { Logger } from "./log.js";
import { asOperator, lookAsOperator } from "./operator.js";

interface Plan extends PlanLimits {
  plan: string;
  organizationCount: number;
  /** Their slugs; only where one plan is shown. */
  organizations?: string[];
}

interface JsonOption {
  json: boolean;
}

/** The word for a limit that is none. */
const NONE = "none";
/** The largest `integer` of the database. */
const INTEGER_MAX = 2_147_483_647;
/** A legal batch of 1,000 operations must be able to pass. */
const BURST_MIN = 1_000;
const RETENTION_DAYS_MAX = 36_500;
/** By what stands behind the option, which is nothing as a rule. */
const FLAGS: Record<string, boolean> = { "": true, true: true, false: false };

/** `svc-server plans list`: every plan with its limits, one line each. */
export async function listPlansCommand(config: ServerConfig, logger: Logger, { json }: JsonOption): Promise<void> {
  const document = await lookAsOperator(config, logger, (sql) => call(sql, "operator_list_plans"));
  const lines = (JSON.parse(document) as Plan[]).map((plan) =>
    [plan.plan, ...limitsInWords(plan), organizationsInWords(plan)].join("\t"),
  );
  process.stdout.write(json ? `${document}\n` : textOf(lines));
}

/** `svc-server plans show`: a plan, one limit a line, and whose it is. */
export async function showPlanCommand(
  config: ServerConfig,
  logger: Logger,
  { plan, json }: JsonOption & { plan: string },
): Promise<void> {
  const document = await lookAsOperator(config, logger, (sql) => call(sql, "operator_get_plan", plan));
  const shown = JSON.parse(document) as Plan & { organizations: string[] };
  const whose = shown.organizations.length === 0 ? "" : `: ${shown.organizations.join(", ")}`;
  process.stdout.write(
    json ? `${document}\n` : textOf([...limitsInWords(shown), `${organizationsInWords(shown)}${whose}`]),
  );
}

export interface SetPlanOptions extends JsonOption {
  plan: string;
  ratePerSecond: string | undefined;
  rateBurst: string | undefined;
  monthlyEvents: string | undefined;
  retentionDays: string | undefined;
  cloudExecution: string | undefined;
  ai: string | undefined;
  stateBytes: string | undefined;
  /** By the names that they have in a plan. */
  quotas: Readonly<Record<Quota, string | undefined>>;
}

/** How many of something there may be. */
export type Quota = (typeof QUOTAS)[number];
export const QUOTAS = [
  "projects",
  "members",
  "tokens",
  "versions",
  "versionBytes",
  "keys",
  "webhooks",
  "recomputes",
  "previews",
  "changes",
] as const satisfies readonly (keyof PlanLimits)[];

/** `svc-server plans set`: other limits for all organizations of a plan, or a new plan. */
export async function setPlanCommand(config: ServerConfig, logger: Logger, options: SetPlanOptions): Promise<void> {
  const changes = changesOf(options);
  const document = await asOperator(config, logger, (sql) => call(sql, "operator_set_plan", options.plan, changes));
  const { plan, changes: made } = JSON.parse(document) as {
    plan: Plan;
    changes: { retentionDays?: Days };
  };
  const isChanged = Object.keys(made).length > 0;
  const lines = [
    `${plan.plan}${isChanged ? "" : " (nothing has changed)"}: ${limitsInWords(plan).join(", ")}; ${organizationsInWords(plan)}`,
    ...(plan.organizationCount > 0 ? removal(made.retentionDays) : []),
  ];
  process.stdout.write(options.json ? `${document}\n` : textOf(lines));
}

/** @throws {ConfigError} with all that is wrong at once. */
function changesOf(options: SetPlanOptions): Partial<PlanLimits> {
  const problems: string[] = [];
  const changes: Partial<Record<keyof PlanLimits, number | boolean | null>> = {};
  const number = (name: keyof PlanLimits, text: string | undefined, range: Range) => {
    if (text === undefined) return;
    const value = numberOf(text, range);
    if (value !== undefined) changes[name] = value;
    else problems.push(`${optionOf(name)} must be ${rangeInWords(range)}, not \`${text}\``);
  };
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(options.plan)) {
    problems.push(`a plan's name must be 1 to 63 lower-case letters, digits and hyphens, not \`${options.plan}\``);
  }
  number("ratePerSecond", options.ratePerSecond, { min: 1, max: INTEGER_MAX });
  number("rateBurst", options.rateBurst, { min: BURST_MIN, max: INTEGER_MAX });
  number("monthlyEvents", options.monthlyEvents, { min: 0, max: Number.MAX_SAFE_INTEGER, orNone: true });
  number("retentionDays", options.retentionDays, { min: 1, max: RETENTION_DAYS_MAX, orNone: true });
  number("stateBytes", options.stateBytes, { min: 1, max: INTEGER_MAX });
  for (const quota of QUOTAS) number(quota, options.quotas[quota], { min: 0, max: INTEGER_MAX });
  const flag = (name: "cloudExecution" | "ai") => {
    const text = options[name];
    if (text === undefined) return;
    const value = FLAGS[text];
    if (value !== undefined) changes[name] = value;
    else {
      const option = optionOf(name);
      problems.push(`${option} must be true or false, not \`${text}\`; --no-${option.slice(2)} is false, too`);
    }
  };
  flag("cloudExecution");
  flag("ai");
  if (problems.length === 0 && Object.keys(changes).length === 0) {
    problems.push("name at least one limit to set; `svc-server plans set --help` lists them");
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return changes as Partial<PlanLimits>;
}

/** `--state-bytes` for stateBytes. */
function optionOf(name: keyof PlanLimits): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

interface Range {
  min: number;
  max: number;
  orNone?: true;
}

function numberOf(text: string, { min, max, orNone }: Range): number | null | undefined {
  if (orNone && text === NONE) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function rangeInWords({ min, max, orNone }: Range): string {
  return `a whole number from ${min} to ${max}${orNone ? `, or \`${NONE}\`` : ""}`;
}

export interface AssignPlanOptions extends JsonOption {
  organization: string;
  plan: string;
}

/** `svc-server plans assign`: another plan for an organization. */
export async function assignPlanCommand(
  config: ServerConfig,
  logger: Logger,
  { organization, plan, json }: AssignPlanOptions,
): Promise<void> {
  const document = await asOperator(config, logger, (sql) => call(sql, "operator_assign_plan", organization, plan));
  const { slug, previousPlan, retentionDays } = JSON.parse(document) as {
    slug: string;
    previousPlan: string;
    retentionDays: Days;
  };
  const text = previousPlan === plan ? `${slug} has the plan ${plan} already.` : `${slug}: ${previousPlan} -> ${plan}`;
  process.stdout.write(json ? `${document}\n` : textOf([text, ...removal(retentionDays)]));
}

/** How many days operations are kept, before a change and after it; null for ever. */
interface Days {
  from: number | null;
  to: number | null;
}

/** What a change of the days that are kept removes, in a line; nothing where it removes nothing. */
function removal(days: Days | undefined): string[] {
  if (days === undefined || days.to === null || days.to >= (days.from ?? Infinity)) return [];
  return [`What was accepted more than ${daysInWords(days.to)} ago is now removed, for good.`];
}

/** `svc-server plans remove`: a plan that no organization has. */
export async function removePlanCommand(
  config: ServerConfig,
  logger: Logger,
  { plan, json }: JsonOption & { plan: string },
): Promise<void> {
  const document = await asOperator(config, logger, (sql) => call(sql, "operator_remove_plan", plan));
  process.stdout.write(json ? `${document}\n` : `The plan ${plan} was removed.\n`);
}

function limitsInWords(plan: Plan): string[] {
  const { ratePerSecond, rateBurst, monthlyEvents, retentionDays, cloudExecution, ai, stateBytes } = plan;
  return [
    `${ratePerSecond} operations/s, burst ${rateBurst}`,
    monthlyEvents === null ? "any number of events" : `${monthlyEvents} events a month`,
    retentionDays === null ? "kept for ever" : `kept for ${daysInWords(retentionDays)}`,
    cloudExecution ? "cloud execution" : "no cloud execution",
    ai ? "AI" : "no AI",
    `states of ${bytesInWords(stateBytes)}`,
    `at most ${counted(plan.projects, "project")} of ${counted(plan.versions, "version")} in ${bytesInWords(plan.versionBytes)}`,
    `${counted(plan.members, "member")} and ${counted(plan.tokens, "token")}`,
    `in an environment ${counted(plan.keys, "key")} and ${counted(plan.webhooks, "webhook")}`,
    `${counted(plan.recomputes, "recompute")} and ${counted(plan.previews, "preview")} at once`,
    `${counted(plan.changes, "change")} a minute`,
  ];
}

function daysInWords(days: number): string {
  return counted(days, "day");
}

function organizationsInWords({ organizationCount }: Plan): string {
  return counted(organizationCount, "organization");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function textOf(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
