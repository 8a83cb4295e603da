/** The tables at the end of a run. All but the last depend on the input and the model alone. */
import type { CustomerDocument, ProjectOverview, TimelineEntry } from "../api.js";
import type { Input } from "../input.js";
import type { ReceiptTally } from "../receive/tally.js";
import { tellStory } from "./story.js";
import { styledBar, figure, reportTable, type ReportStyle } from "./style.js";

export interface DemoResults {
  input: Input;
  /** The folder of the model, as it was named. */
  model: string;
  overview: ProjectOverview;
  tally: ReceiptTally;
  story: { customer: CustomerDocument; timeline: TimelineEntry[] } | null;
  rates: {
    events: number;
    ingestSeconds: number;
    /** From the first event sent to none pending; evaluation runs beside ingestion. */
    evaluateSeconds: number;
    deliverySeconds: number;
    retries: number;
    restarts: number;
  };
}

/** The whole report as text. */
export function demoReport(style: ReportStyle, results: DemoResults): string {
  const { story, overview, tally } = results;
  const derived = lifecycle(style, overview) + segments(style, overview) + deliveries(style, tally);
  const told = story === null ? "" : tellStory(style, story.customer, story.timeline);
  return `\n${whatRan(style, results)}${derived}${told}${rates(style, results)}`;
}

function whatRan(style: ReportStyle, { input, model, overview }: DemoResults): string {
  const { span } = input;
  const days = span === null ? 0 : Math.max(1, Math.ceil((span.last - span.first) / 86_400_000));
  return reportTable(
    style,
    "What ran",
    [{ title: "" }, { title: "" }],
    [
      ["input", input.title],
      ["model", `${model} (${overview.configVersion} in ${overview.environment})`],
      ["customers", overview.customers],
      ["events", overview.events.accepted],
      ["trait updates", input.operations - input.events],
      ["span", span === null ? "no timestamps" : `${day(span.first)} to ${day(span.last)}, ${figure(days)} days`],
    ],
  );
}

function day(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

function lifecycle(style: ReportStyle, { lifecycle: states }: ProjectOverview): string {
  if (states.length === 0) return "";
  const largest = Math.max(...states.map(({ customers }) => customers));
  const columns = [{ title: "lifecycle" }, right("now"), right("ever"), { title: "" }];
  const rows = states.map(({ state, customers, everEntered }) => [
    state,
    customers,
    everEntered,
    styledBar(style, customers, largest),
  ]);
  return reportTable(style, "Where customers stand", columns, rows);
}

function segments(style: ReportStyle, { segments: sizes, customers }: ProjectOverview): string {
  if (sizes.length === 0) return "";
  const columns = [{ title: "segment" }, right("members"), right("share"), { title: "" }];
  const largest = Math.max(...sizes.map(({ members }) => members));
  const share = (members: number) => `${((100 * members) / Math.max(1, customers)).toFixed(1)} %`;
  const rows = sizes.map(({ segment, members }) => [
    segment,
    members,
    share(members),
    styledBar(style, members, largest),
  ]);
  return reportTable(style, "Who needs attention", columns, rows);
}

/** Verified are those whose signature was checked; there is no other way into the tally. */
function deliveries(style: ReportStyle, tally: ReceiptTally): string {
  const columns = [{ title: "type" }, right("delivered and verified")];
  const rows = tally.counts().map(({ type, events }) => [type, events] as const);
  return reportTable(style, "Webhook deliveries", columns, [...rows, ["in all", tally.events]]);
}

function rates(style: ReportStyle, { rates: measured, tally }: DemoResults): string {
  const { events, ingestSeconds, evaluateSeconds, deliverySeconds, retries, restarts } = measured;
  const columns = [{ title: "rate" }, right("per second"), right("seconds")];
  const rows = [
    ["events ingested", events, ingestSeconds] as const,
    ["events evaluated", events, evaluateSeconds] as const,
    ["webhooks delivered", tally.events, deliverySeconds] as const,
  ].map(([title, count, seconds]) => [title, Math.round(count / Math.max(seconds, 0.001)), seconds.toFixed(1)]);
  const notes = [
    ["service restarts", restarts, ""],
    ["requests sent again", retries, ""],
    ["deliveries repeated", tally.repeated, ""],
  ].filter(([, count]) => count !== 0);
  return reportTable(style, "Rates reached", columns, [...rows, ...notes]);
}

function right(title: string) {
  return { title, align: "right" } as const;
}
