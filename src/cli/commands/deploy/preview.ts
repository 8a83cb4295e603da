import type { RuleResult } from "../../../engine/state/types.js";
import type { ConfigCheck, RecomputeOrPreview } from "../../../http/admin/answers.js";
import { asWarnings } from "../../client/failures.js";
import type { Context } from "../../core/command.js";
import { compileWithNotes } from "../../core/compile.js";
import { showDiagnostics } from "../../output/diagnostics.js";
import { fields, type Column, table } from "../../output/table.js";
import { cancellable } from "../../output/interruption.js";
import { codeSpan, sectionOf, tableOf } from "../../output/markdown.js";
import type { Out } from "../../output/out.js";
import { formatNumber, paragraphs, plural, printable } from "../../../words/text.js";
import { historyFields, totalFields } from "../../../words/recompute.js";
import { statusOf } from "../recompute/job-report.js";
import { type DifferencePage, differencesOf, documentOf, JOB_MEMBERS } from "../recompute/jobs.js";
import { waitForJob } from "../recompute/result.js";
import { type HealthExample, type HealthImpact, Impact, type ImpactDocument, type ImpactGroup } from "./impact.js";

/** Compiles the local model and prints what it would change, without deploying it; for about `sample` customers if given. */
export async function previewDeploy(
  context: Context,
  { sample, markdown }: { sample: number | undefined; markdown: boolean },
): Promise<void> {
  const { api, out, settings } = context;
  const { project } = settings;
  settings.credentials();
  const { snapshot } = await compileWithNotes(context);

  // These would make a deploy of the model fail, which the figures below do not show.
  const { warnings } = (
    await cancellable((stop) => api.post<ConfigCheck>(["config-checks"], { snapshot }, ["warnings"], stop))
  ).data;
  const ofAll = sample === undefined || (!out.json && (await coversAll(context, sample)));
  const body = { snapshot, sample };
  // A preview changes nothing, so an unknown outcome does not matter.
  const { data } = await cancellable((stop) => api.post<RecomputeOrPreview>(["previews"], body, JOB_MEMBERS, stop));
  const path = ["previews", data.id];
  const completed = await waitForJob(context, data, {
    path,
    members: JOB_MEMBERS,
    untouched: "; it changes nothing",
    onDeadLetter: "fix the cause, then preview the model again",
    onStop: "it changes nothing; preview the model again to see its result",
  });

  const impact = new Impact();
  const job: Preview = { ...completed, warnings };
  const pages = gathered(differencesOf(context, path), impact);
  if (out.json) return out.stream(documentOf(job, pages, () => ({ impact: impact.document })));
  for await (const _page of pages);
  const shown = ofAll ? { ...job, sample: null } : job;
  out.print(
    markdown ? impactMarkdown(project, shown, impact.document) : impactInWords(out, project, shown, impact.document),
  );
}

async function coversAll({ api }: Context, sample: number): Promise<boolean> {
  const { data } = await api.get<{ customers: number }>(["overview"], ["customers"]);
  return sample >= data.customers;
}

/** Passes the pages on unchanged, adding their differences to the impact. */
async function* gathered(pages: AsyncIterable<DifferencePage>, impact: Impact): AsyncGenerator<DifferencePage> {
  for await (const page of pages) {
    for (const difference of page.items) impact.add(difference);
    yield page;
  }
}

/** A preview, and the warnings that would block a deploy of its model. */
type Preview = RecomputeOrPreview & ConfigCheck;

/** A customer of whom only runs of rules go is in the totals alone. */
function isWithoutEffect({ result }: Preview): boolean {
  return result.customersChanged === 0 && result.rulesRemoved === 0;
}

/** A preview's result, for a person at a terminal. @param project its slug */
function impactInWords(out: Out, project: string, job: Preview, impact: ImpactDocument): string {
  const { bold } = out.style;
  const refused = "A deploy is refused because of these, unless it is forced (--force):";
  const parts = [
    `${bold(`Preview ${job.id}`)} of this model for ${job.environment} of ${project}; nothing was deployed.`,
    ...(job.warnings.length > 0 ? [`${refused}\n${showDiagnostics(asWarnings(job.warnings), out.style)}`] : []),
    fields(out, {
      Status: statusOf(out, job),
      "Compared with": job.pins.configVersion ?? "no model: none is deployed",
      "As of": out.at(job.pins.evaluatedAt),
      "Looked at": lookedAt(job),
      ...historyFields(job, (iso) => out.at(iso)),
      ...totalFields(job),
    }),
  ];
  if (isWithoutEffect(job)) return [...parts, "No customer would change."].join("\n\n");
  const { emissions, health, journeys, lifecycle, rules, segments, signals } = impact;
  const section = <Row>(rows: readonly Row[], columns: readonly Column<NoInfer<Row>>[]): void => {
    if (rows.length > 0) parts.push(table(out, columns, rows));
  };
  const counted = <Row>(title: string, value: (row: Row) => number) =>
    ({ title, value: (row: Row) => formatNumber(value(row)), align: "right", fixed: true }) as const;
  const moved = ({ entered, exited }: ImpactDocument["segments"][number]) =>
    [...signed("+", entered), ...signed("-", exited)].join(", ");
  const inGroup = [
    counted("Customers", ({ customers }: ImpactGroup) => customers),
    { title: "For example", value: ({ examples }: ImpactGroup) => examples.join(", "), optional: true as const },
  ];
  section(segments, [
    { title: "Segment", value: ({ segmentId }) => segmentId, kept: true },
    counted("Enter", ({ entered }) => entered.customers),
    counted("Leave", ({ exited }) => exited.customers),
    { title: "For example", value: moved, optional: true },
  ]);
  section(lifecycle, [
    { title: "Lifecycle", value: ({ from, to }) => `${from ?? "none"} → ${to ?? "none"}`, kept: true },
    ...inGroup,
  ]);
  if (job.result.healthChanged > 0) {
    const shown = health.examples.map((one) => printable(`${one.customerId} ${healthMove(one)}`));
    parts.push(`${bold("Health")} ${healthCounts(health)}\n${shown.join(", ")}`);
  }
  section(signals, [{ title: "Severity or message of", value: ({ signalId }) => signalId, kept: true }, ...inGroup]);
  section(journeys, [{ title: "Journey", value: ({ journeyId }) => journeyId, kept: true }, ...inGroup]);
  section(rules, [
    { title: "Rule", value: ({ ruleId }) => ruleId, kept: true },
    { title: "Runs", value: ({ runs }) => runsInWords(runs), kept: true },
    ...inGroup,
  ]);
  section(emissions, [
    { title: "Emission", value: emissionName, kept: true },
    counted("Times", (row) => row.emissions),
    ...inGroup,
  ]);
  return paragraphs([...parts, omittedInWords(impact)]);
}

/** The heads of the columns of an `ImpactGroup`. */
const GROUP = ["customers", "for example"];

/** A preview's result, as a comment on a pull request. @param project its slug */
function impactMarkdown(project: string, job: Preview, impact: ImpactDocument): string {
  const { configVersion, evaluatedAt } = job.pins;
  const { History: history } = historyFields(job, utcMinute);
  const blocks = [
    `### What this model would change in ${job.environment} of ${codeSpan(project)}`,
    `Compared with ${configVersion ?? "no model, because none is deployed"}, as of ${utcMinute(evaluatedAt)}, ` +
      `over ${lookedAt(job)}. Nothing was deployed.`,
    ...(history === undefined ? [] : [`Note: ${history}.`]),
    ...sectionOf(
      "A deploy is refused without `--force`",
      ["warning", "why"],
      job.warnings.map(({ code, message }) => [codeSpan(code), codeSpan(message, 200)]),
    ),
  ];
  if (isWithoutEffect(job)) return [...blocks, "**No customer would change.**", footer(job)].join("\n\n");
  blocks.push(tableOf(["", ""], Object.entries(totalFields(job))));
  const { emissions, health, journeys, lifecycle, rules, segments, signals } = impact;
  const section = (...of: Parameters<typeof sectionOf>): void => void blocks.push(...sectionOf(...of));
  section(
    "Segments",
    ["segment", "enter", "leave", "who enters", "who leaves"],
    segments.map(({ segmentId, entered, exited }) => {
      const [enter, enters] = group(entered);
      const [leave, leaves] = group(exited);
      return [codeSpan(segmentId), enter, leave, enters, leaves];
    }),
  );
  const moves = lifecycle.map((move) => [state(move.from), state(move.to), ...group(move)]);
  section("Lifecycle", ["from", "to", ...GROUP], moves);
  if (job.result.healthChanged > 0) blocks.push("#### Health", `${healthCounts(health)}.`);
  const scores = health.examples.map((example) => [codeSpan(example.customerId), healthMove(example)]);
  section("Health of those that change most", ["customer", "score"], scores);
  section(
    "Journeys",
    ["journey", ...GROUP],
    journeys.map((journey) => [codeSpan(journey.journeyId), ...group(journey)]),
  );
  section(
    "Severity or message of signals",
    ["signal", ...GROUP],
    signals.map((signal) => [codeSpan(signal.signalId), ...group(signal)]),
  );
  const runs = rules.map((rule) => [codeSpan(rule.ruleId), runsInWords(rule.runs), ...group(rule)]);
  section("Rules", ["rule", "runs", ...GROUP], runs);
  const emitted = emissions.map((one) => [codeSpan(emissionName(one)), formatNumber(one.emissions), ...group(one)]);
  section("Emissions", ["type", "times", ...GROUP], emitted);
  return paragraphs([...blocks, omittedInWords(impact), footer(job)]);
}

/** `signal.raised usage_dropping`, so that the customers of each signal can be told apart. */
function emissionName({ eventType, signal }: ImpactDocument["emissions"][number]): string {
  return signal === undefined ? eventType : `${eventType} ${signal}`;
}

function footer({ id, hash = "" }: RecomputeOrPreview): string {
  return `<sub>svc deploy --preview: ${id}, model ${hash.slice(0, 12)}</sub>`;
}

function state(name: string | null): string {
  return name === null ? "none" : codeSpan(name);
}

function group({ customers, examples }: ImpactGroup): [string, string] {
  const more = customers > examples.length ? ` and ${formatNumber(customers - examples.length)} more` : "";
  return [formatNumber(customers), examples.map((id) => codeSpan(id)).join(", ") + more];
}

/** `2026-03-02 10:00 UTC`. */
function utcMinute(iso: string): string {
  return `${iso.slice(0, 16).replace("T", " ")} UTC`;
}

/** `20,000 customers`, `1,012 customers, a sample`. */
function lookedAt({ progress, sample }: RecomputeOrPreview): string {
  const customers = plural(progress.customersDone, "customer");
  return typeof sample === "number" ? `${customers}, a sample` : customers;
}

const HEALTH_MOVES = {
  rises: "rise",
  falls: "fall",
  shifts: "keep their score while components or bands change",
  gained: "get a score",
  lost: "lose it",
} as const;

/** `12 rise, 30 fall`. */
function healthCounts(health: HealthImpact): string {
  const moves = Object.keys(HEALTH_MOVES) as (keyof typeof HEALTH_MOVES)[];
  const some = moves.filter((move) => health[move] > 0);
  return some.map((move) => `${formatNumber(health[move])} ${HEALTH_MOVES[move]}`).join(", ");
}

/** `81.5 → 40`. */
function healthMove({ before, after }: HealthExample): string {
  return `${before ?? "none"} → ${after ?? "none"}`;
}

const RESULTS: readonly RuleResult[] = ["pass", "fail", "skip", "error"];

/** `3 pass, 1 error`, in this order, whichever came first. */
function runsInWords(runs: Readonly<Record<string, number>>): string {
  const counts = RESULTS.map((result) => [result, runs[result] ?? 0] as const).filter(([, times]) => times > 0);
  return counts.map(([result, times]) => `${formatNumber(times)} ${result}`).join(", ");
}

/** What the tables leave out; empty if nothing. */
function omittedInWords({ rulesOmitted, emissionsOmitted }: ImpactDocument): string {
  const parts = [
    ...(rulesOmitted > 0 ? [`${plural(rulesOmitted, "run")} of rules`] : []),
    ...(emissionsOmitted > 0 ? [plural(emissionsOmitted, "emission")] : []),
  ];
  return parts.length === 0 ? "" : `Not in the tables, of customers with more than 1,000: ${parts.join(", ")}.`;
}

function signed(sign: string, { examples: shown }: ImpactGroup): string[] {
  return shown.map((customer) => sign + customer);
}
