/** The tables at the end of a run, and the story of one customer. All but the last table depend only on the input and the model. */
import type { Overview } from "../../http/admin/answers.js";
import type { CustomerDocument, TimelineEntry } from "../api.js";
import type { Input } from "../input.js";
import type { ReceiptTally } from "../receiver.js";
import { figure, reportTable, type ReportStyle, shorten, styledBar } from "./style.js";

export interface DemoResults {
  input: Input;
  /** The display name of the model's folder. */
  model: string;
  overview: Overview;
  tally: ReceiptTally;
  story: { customer: CustomerDocument; timeline: TimelineEntry[] } | null;
  rates: {
    events: number;
    ingestSeconds: number;
    /** From the first event sent to none pending; evaluation runs in parallel with ingestion. */
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
  const narrative = story === null ? "" : storyText(style, story.customer, story.timeline);
  return `\n${runSummary(style, results)}${derived}${narrative}${rates(style, results)}`;
}

function runSummary(style: ReportStyle, { input, model, overview }: DemoResults): string {
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

function lifecycle(style: ReportStyle, { lifecycle: states }: Overview): string {
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

function segments(style: ReportStyle, { segments: sizes, customers }: Overview): string {
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

/** The tally contains only deliveries whose signature was verified. */
function deliveries(style: ReportStyle, tally: ReceiptTally): string {
  const columns = [{ title: "type" }, right("delivered and verified")];
  const rows = tally.counts().map(({ type, events }) => [type, events] as const);
  return reportTable(style, "Webhook deliveries", columns, [...rows, ["total", tally.events]]);
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

/** Lines of a story that fit a screen. */
const LINES_MAX = 18;

/**
 * Chooses a customer by its counts of emissions by kind: those whose story fits a screen first, then those that returned to a lifecycle state,
 * then those with the most emissions (the fewest if it does not fit), then the smaller id. Null without any emission.
 */
export function chooseStory(customers: ReadonlyMap<string, ReadonlyMap<string, number>>): string | null {
  const known = [...customers].map(([customerId, kinds]) => {
    const emissions = [...kinds.values()].reduce((sum, count) => sum + count, 0);
    const cameBack = [...kinds].some(([kind, count]) => kind.startsWith("customer.") && count > 1);
    return { customerId, emissions, cameBack, fits: emissions <= LINES_MAX };
  });
  const [first] = known.sort(
    (one, other) =>
      Number(other.fits) - Number(one.fits) ||
      Number(other.cameBack) - Number(one.cameBack) ||
      (one.fits ? other.emissions - one.emissions : one.emissions - other.emissions) ||
      (one.customerId < other.customerId ? -1 : 1),
  );
  return first?.customerId ?? null;
}

/** The story with its heading, ending with an empty line. */
function storyText(style: ReportStyle, customer: CustomerDocument, timeline: readonly TimelineEntry[]): string {
  const known = Object.entries(customer.traits).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const lines = [
    style.heading(shorten(`One customer's story: ${customer.customerId}`, 100)),
    ...(known.length === 0 ? [] : wrap(known, 98).map(style.dim)),
    ...timeline.slice(0, LINES_MAX).map(storyLine),
    ...(timeline.length > LINES_MAX ? [`and ${timeline.length - LINES_MAX} more`] : []),
    `today       ${customer.lifecycle ?? "no lifecycle"}${customer.segments.length === 0 ? "" : `; in ${customer.segments.join(", ")}`}`,
  ];
  return `${lines.map((line) => shorten(line, 110)).join("\n")}\n\n`;
}

function wrap(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = lines.length === 0 ? part : `${lines.at(-1)}, ${part}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(shorten(part, width));
  }
  return lines;
}

function storyLine({ at, type, metadata, cause }: TimelineEntry): string {
  return `${at.slice(0, 10)}  ${what(type, metadata)}${cause.type === "timer" ? " (by time alone)" : ""}`;
}

function what(type: string, metadata: Record<string, unknown>): string {
  const { previous_lifecycle: previous, new_lifecycle: next, segment } = metadata;
  if (type === "customer.created" && typeof next === "string") return `first seen: ${next}`;
  if (typeof previous === "string" && typeof next === "string") return `${previous} → ${next}`;
  if (type === "segment.entered" && typeof segment === "string") return `  joins ${segment}`;
  if (type === "segment.exited" && typeof segment === "string") return `  leaves ${segment}`;
  return `${type} ${JSON.stringify(metadata)}`;
}
