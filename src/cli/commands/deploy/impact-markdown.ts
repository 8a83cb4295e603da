import type { RecomputeJob } from "../../client/answers.js";
import type { ImpactGroup, ImpactDocument } from "./impact.js";
import { healthCounts, healthMove, lookedAt, omittedInWords, runsInWords } from "./impact-report.js";
import { totalsOf } from "../recompute/job-report.js";
import { number, printable } from "../../output/text.js";

/** A comment has 65,536 characters at most, so long lists are cut, and long names. */
const ROWS = 20;
const NAME_LENGTH = 40;

/** What a preview came to, as a comment on a pull request. @param project its slug */
export function impactMarkdown(project: string, job: RecomputeJob, impact: ImpactDocument): string {
  const { configVersion, evaluatedAt } = job.pins;
  const blocks = [
    `### What this model would change in ${job.environment} of ${code(project)}`,
    `Compared with ${configVersion ?? "no model, because none is deployed"}, as of ${evaluatedAt.slice(0, 16).replace("T", " ")} UTC, ` +
      `over ${lookedAt(job)}. Nothing was deployed.`,
  ];
  if (job.result.customersChanged === 0) return [...blocks, "**No customer would change.**", footer(job)].join("\n\n");
  blocks.push(tableOf(["", ""], totalsOf(job)));
  const { emissions, health, journeys, lifecycle, rules, segments } = impact;
  const section = (title: string, heads: readonly string[], rows: readonly (readonly string[])[]): void => {
    if (rows.length > 0) blocks.push(`#### ${title}`, tableOf(heads, rows.slice(0, ROWS)));
    if (rows.length > ROWS) blocks.push(`And ${number(rows.length - ROWS)} more.`);
  };
  section(
    "Segments",
    ["segment", "enter", "leave", "who enters", "who leaves"],
    segments.map(({ segmentId, entered, exited }) => [
      code(segmentId),
      number(entered.customers),
      number(exited.customers),
      examples(entered),
      examples(exited),
    ]),
  );
  section(
    "Lifecycle",
    ["from", "to", "customers", "for example"],
    lifecycle.map((move) => [state(move.from), state(move.to), number(move.customers), examples(move)]),
  );
  if (job.result.healthChanged > 0) blocks.push("#### Health", `${healthCounts(health)}.`);
  section(
    "Health of those that change most",
    ["customer", "score"],
    health.examples.map((example) => [code(example.customerId), healthMove(example)]),
  );
  section(
    "Journeys",
    ["journey", "customers", "for example"],
    journeys.map((journey) => [code(journey.journeyId), number(journey.customers), examples(journey)]),
  );
  section(
    "Rules",
    ["rule", "runs", "customers", "for example"],
    rules.map((rule) => [code(rule.ruleId), runsInWords(rule.runs), number(rule.customers), examples(rule)]),
  );
  section(
    "Emissions",
    ["type", "times", "customers", "for example"],
    emissions.map((emission) => [
      code(emission.eventType),
      number(emission.emissions),
      number(emission.customers),
      examples(emission),
    ]),
  );
  const omitted = omittedInWords(impact);
  if (omitted !== "") blocks.push(omitted);
  return [...blocks, footer(job)].join("\n\n");
}

function footer({ id, hash = "" }: RecomputeJob): string {
  return `<sub>svc deploy --preview: ${id}, model ${hash.slice(0, 12)}</sub>`;
}

function state(name: string | null): string {
  return name === null ? "none" : code(name);
}

function examples({ customers, examples: shown }: ImpactGroup): string {
  const more = customers > shown.length ? ` and ${number(customers - shown.length)} more` : "";
  return shown.map(code).join(", ") + more;
}

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A name that comes from elsewhere, so that nothing in it is read as Markdown, as HTML, as a mention or as the end of a cell. */
function code(text: string): string {
  const cut = text.length > NAME_LENGTH ? `${[...text].slice(0, NAME_LENGTH - 1).join("")}…` : text;
  const shown = printable(cut).replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = longest > 0 || shown.startsWith(" ") || shown.endsWith(" ") ? " " : "";
  return `${fence}${pad}${shown}${pad}${fence}`;
}
