import type { RecomputeJob } from "../../client/answers.js";
import type { ImpactGroup, ImpactDocument } from "./impact.js";
import { healthCounts, healthMove, lookedAt, omittedInWords, runsInWords } from "./impact-report.js";
import { totalsOf } from "../recompute/job-report.js";
import { number, paragraphs, printable } from "../../output/text.js";

/** A comment has 65,536 characters at most, so long lists are cut, and long names. */
const ROWS = 20;
const NAME_LENGTH = 40;

/** The heads of columns that tell how many customers, and some of them. */
const GROUP = ["customers", "for example"];

/** What a preview came to, as a comment on a pull request. @param project its slug */
export function impactMarkdown(project: string, job: RecomputeJob, impact: ImpactDocument): string {
  const { configVersion, evaluatedAt } = job.pins;
  const blocks = [
    `### What this model would change in ${job.environment} of ${code(project)}`,
    `Compared with ${configVersion ?? "no model, because none is deployed"}, as of ${evaluatedAt.slice(0, 16).replace("T", " ")} UTC, ` +
      `over ${lookedAt(job)}. Nothing was deployed.`,
  ];
  if (job.result.customersChanged === 0) return [...blocks, "**No customer would change.**", footer(job)].join("\n\n");
  blocks.push(tableOf(["", ""], Object.entries(totalsOf(job))));
  const { emissions, health, journeys, lifecycle, rules, segments } = impact;
  const section = (title: string, heads: readonly string[], rows: readonly (readonly string[])[]): void => {
    if (rows.length > 0) blocks.push(`#### ${title}`, tableOf(heads, rows.slice(0, ROWS)));
    if (rows.length > ROWS) blocks.push(`And ${number(rows.length - ROWS)} more.`);
  };
  section(
    "Segments",
    ["segment", "enter", "leave", "who enters", "who leaves"],
    segments.map(({ segmentId, entered, exited }) => {
      const [enter, enters] = group(entered);
      const [leave, leaves] = group(exited);
      return [code(segmentId), enter, leave, enters, leaves];
    }),
  );
  const moves = lifecycle.map((move) => [state(move.from), state(move.to), ...group(move)]);
  section("Lifecycle", ["from", "to", ...GROUP], moves);
  if (job.result.healthChanged > 0) blocks.push("#### Health", `${healthCounts(health)}.`);
  const scores = health.examples.map((example) => [code(example.customerId), healthMove(example)]);
  section("Health of those that change most", ["customer", "score"], scores);
  section(
    "Journeys",
    ["journey", ...GROUP],
    journeys.map((journey) => [code(journey.journeyId), ...group(journey)]),
  );
  const runs = rules.map((rule) => [code(rule.ruleId), runsInWords(rule.runs), ...group(rule)]);
  section("Rules", ["rule", "runs", ...GROUP], runs);
  const emitted = emissions.map((one) => [code(one.eventType), number(one.emissions), ...group(one)]);
  section("Emissions", ["type", "times", ...GROUP], emitted);
  return paragraphs([...blocks, omittedInWords(impact), footer(job)]);
}

function footer({ id, hash = "" }: RecomputeJob): string {
  return `<sub>svc deploy --preview: ${id}, model ${hash.slice(0, 12)}</sub>`;
}

function state(name: string | null): string {
  return name === null ? "none" : code(name);
}

function group({ customers, examples }: ImpactGroup): [string, string] {
  const more = customers > examples.length ? ` and ${number(customers - examples.length)} more` : "";
  return [number(customers), examples.map(code).join(", ") + more];
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
