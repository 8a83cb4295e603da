import type { Argv } from "yargs";
import { call } from "../db/api/call.js";
import type { Usage } from "../http/admin/answers.js";
import { ConfigError } from "./config.js";
import { bytesInWords } from "../model/snapshot/limits.js";
import { asOperator, type Configure, jsonOption, readAsOperator, print } from "./operator.js";

type PlanLimits = Usage["limits"];

interface Plan extends PlanLimits {
  plan: string;
  organizationCount: number;
  /** Their slugs; only if a single plan is shown. */
  organizations?: string[];
}

/** The word for no limit. */
const NONE = "none";
/** The largest `integer` of the database. */
const INTEGER_MAX = 2_147_483_647;
/** Values of flags, usually the empty string. Yargs would read every value of a boolean option but `true` as false. */
const FLAGS: Record<string, boolean> = { "": true, true: true, false: false };

/** The whole numbers that a limit accepts. */
interface Range {
  min: number;
  /** INTEGER_MAX unless given. */
  max?: number;
  orNone?: true;
}

/** The options of `plans set`, by the name of the limit in a plan; a flag has no range. */
const LIMITS: Readonly<Record<keyof PlanLimits, { describe: string; range?: Range }>> = {
  ratePerSecond: { describe: "Sustained operations per second of an API key", range: { min: 1 } },
  // A batch may have 1,000 operations.
  rateBurst: { describe: "Operations of an API key at once; at least 1000", range: { min: 1_000 } },
  monthlyEvents: {
    describe: "Events that may be stored a month, or none",
    range: { min: 0, max: Number.MAX_SAFE_INTEGER, orNone: true },
  },
  retentionDays: {
    describe: "Days that events are kept, or none: for ever",
    range: { min: 1, max: 36_500, orNone: true },
  },
  supersededDays: {
    describe: "Days that histories replaced by a recompute are kept, or none: for ever",
    range: { min: 1, max: 36_500, orNone: true },
  },
  cloudExecution: { describe: "Whether events are accepted; --no-cloud-execution" },
  ai: { describe: "Whether a language model may be asked; --no-ai" },
  stateBytes: { describe: "Bytes that a model may store for one customer", range: { min: 1 } },
  projects: { describe: "Projects of an organization", range: { min: 0 } },
  members: { describe: "Members and open invitations of an organization", range: { min: 0 } },
  tokens: { describe: "Working access tokens of an organization", range: { min: 0 } },
  versions: { describe: "Configuration versions of a project", range: { min: 0 } },
  versionBytes: { describe: "Bytes that the versions of a project take", range: { min: 0 } },
  keys: { describe: "Working API keys of an environment", range: { min: 0 } },
  webhooks: { describe: "Webhooks of an environment", range: { min: 0 } },
  recomputes: { describe: "Unfinished recomputes and dry runs of an environment", range: { min: 0 } },
  previews: { describe: "Unfinished previews and backtests of an environment", range: { min: 0 } },
  changes: { describe: "Changes by a member in a minute", range: { min: 0 } },
};
const LIMIT_NAMES = Object.keys(LIMITS) as (keyof PlanLimits)[];

/** `state-bytes` for stateBytes. */
function optionOf(name: keyof PlanLimits): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The options, all of type string. */
const limitOptions = Object.fromEntries(
  LIMIT_NAMES.map((name) => [optionOf(name), { type: "string", describe: LIMITS[name].describe } as const]),
);

/** `svc-server plans …`: the plans with their limits. Changes take effect with the next request. */
export const plansCommands = (configure: Configure) => (command: Argv) => {
  const plan = { type: "string", demandOption: true, describe: "Name of the plan" } as const;
  return command
    .command(
      "list",
      "List the plans with their limits",
      (list) => list.option("json", jsonOption("Print an array of plans")),
      async ({ json }) => {
        const document = await readAsOperator(...configure(), (sql) => call(sql, "operator_list_plans"));
        const lines = (JSON.parse(document) as Plan[]).map((plan) =>
          [plan.plan, ...limitsInWords(plan), organizationsInWords(plan)].join("\t"),
        );
        print(json, document, lines);
      },
    )
    .command(
      "show <plan>",
      "Show a plan and the organizations that have it",
      (show) => show.positional("plan", plan).option("json", jsonOption("Print the plan as JSON")),
      async ({ plan, json }) => {
        const document = await readAsOperator(...configure(), (sql) => call(sql, "operator_get_plan", plan));
        const shown = JSON.parse(document) as Plan & { organizations: string[] };
        const whose = shown.organizations.length === 0 ? "" : `: ${shown.organizations.join(", ")}`;
        print(json, document, [...limitsInWords(shown), `${organizationsInWords(shown)}${whose}`]);
      },
    )
    .command(
      "set <plan>",
      "Change limits of a plan, or create one; effective from the next request on",
      (set) => {
        // Not chained, so that their names do not become part of the type.
        set.options(limitOptions);
        return set
          .positional("plan", plan)
          .option("json", jsonOption("Print {plan, changes}"))
          .example("svc-server plans set starter --rate-per-second 100 --rate-burst 5000 --retention-days 90", "");
      },
      async ({ plan: name, json, ...given }) => {
        const context = configure();
        const wanted = changesOf(name, given as Partial<Record<keyof PlanLimits, string>>);
        const document = await asOperator(...context, (sql) => call(sql, "operator_set_plan", name, wanted));
        const { plan, changes } = JSON.parse(document) as { plan: Plan; changes: KeptDays };
        const isChanged = Object.keys(changes).length > 0;
        print(json, document, [
          `${plan.plan}${isChanged ? "" : " (nothing has changed)"}: ${limitsInWords(plan).join(", ")}; ${organizationsInWords(plan)}`,
          ...(plan.organizationCount > 0 ? removals(changes) : []),
        ]);
      },
    )
    .command(
      "assign <organization> <plan>",
      "Give an organization a plan; effective from the next request on",
      (assign) =>
        assign
          .positional("organization", { type: "string", demandOption: true, describe: "Slug of the organization" })
          .positional("plan", plan)
          .option("json", jsonOption("Print what was assigned as JSON")),
      async ({ organization, plan, json }) => {
        const assigning = asOperator(...configure(), (sql) => call(sql, "operator_assign_plan", organization, plan));
        const document = await assigning;
        const { slug, previousPlan, ...days } = JSON.parse(document) as Assigned;
        const isSame = previousPlan === plan;
        const text = isSame ? `${slug} has the plan ${plan} already.` : `${slug}: ${previousPlan} -> ${plan}`;
        print(json, document, [text, ...removals(days)]);
      },
    )
    .command(
      "remove <plan>",
      "Remove a plan that no organization has",
      (remove) => remove.positional("plan", plan).option("json", jsonOption("Print the plan as it was")),
      async ({ plan, json }) => {
        const document = await asOperator(...configure(), (sql) => call(sql, "operator_remove_plan", plan));
        print(json, document, [`The plan ${plan} was removed.`]);
      },
    )
    .demandCommand(1, "Name a command of plans: list, show, set, assign or remove.");
};

/** The limits to change, from the given options. Throws ConfigError with all problems at once. */
function changesOf(plan: string, given: Partial<Record<keyof PlanLimits, string>>): Partial<PlanLimits> {
  const problems: string[] = [];
  const changes: Partial<Record<keyof PlanLimits, number | boolean | null>> = {};
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(plan)) {
    problems.push(`a plan's name must be 1 to 63 lower-case letters, digits and hyphens, not \`${plan}\``);
  }
  const isFlag = (name: keyof PlanLimits) => LIMITS[name].range === undefined;
  for (const name of [...LIMIT_NAMES.filter((name) => !isFlag(name)), ...LIMIT_NAMES.filter(isFlag)]) {
    const text = given[name];
    if (text === undefined) continue;
    const { range } = LIMITS[name];
    const value = range === undefined ? FLAGS[text] : numberOf(text, range);
    if (value !== undefined) changes[name] = value;
    else if (range !== undefined) problems.push(`--${optionOf(name)} must be ${rangeInWords(range)}, not \`${text}\``);
    else {
      const option = optionOf(name);
      problems.push(`--${option} must be true or false, not \`${text}\`; --no-${option} is false, too`);
    }
  }
  if (problems.length === 0 && Object.keys(changes).length === 0) {
    problems.push("name at least one limit to set; `svc-server plans set --help` lists them");
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return changes as Partial<PlanLimits>;
}

function numberOf(text: string, { min, max = INTEGER_MAX, orNone }: Range): number | null | undefined {
  if (orNone && text === NONE) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

function rangeInWords({ min, max = INTEGER_MAX, orNone }: Range): string {
  return `a whole number from ${min} to ${max}${orNone ? `, or \`${NONE}\`` : ""}`;
}

/** Days for which something is kept, before a change and after it; null for ever. */
interface Days {
  from: number | null;
  to: number | null;
}

/** Changes of retention: of operations, and of histories that a recompute superseded. */
interface KeptDays {
  retentionDays?: Days;
  supersededDays?: Days;
}

interface Assigned extends KeptDays {
  slug: string;
  previousPlan: string;
}

/** One line for each shortened retention, which removes old data. */
function removals({ retentionDays, supersededDays }: KeptDays): string[] {
  const removed = (days: Days | undefined, what: string) =>
    days === undefined || days.to === null || days.to >= (days.from ?? Infinity)
      ? []
      : [`What was ${what} more than ${counted(days.to, "day")} ago is now removed, for good.`];
  return [...removed(retentionDays, "accepted"), ...removed(supersededDays, "replaced by a recompute")];
}

function limitsInWords(plan: Plan): string[] {
  const { ratePerSecond, rateBurst, monthlyEvents, retentionDays, supersededDays, cloudExecution, ai, stateBytes } =
    plan;
  const keptFor = (days: number | null) => (days === null ? "kept for ever" : `kept for ${counted(days, "day")}`);
  return [
    `${ratePerSecond} operations/s, burst ${rateBurst}`,
    monthlyEvents === null ? "any number of events" : `${monthlyEvents} events a month`,
    keptFor(retentionDays),
    `replaced histories ${keptFor(supersededDays)}`,
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

function organizationsInWords({ organizationCount }: Plan): string {
  return counted(organizationCount, "organization");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
