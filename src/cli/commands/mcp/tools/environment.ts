import Type from "typebox";

import { conditionText } from "../../../../model/snapshot/words.js";
import type {
  Finding,
  JourneyFunnel,
  ListedSignal,
  ListedTransition,
  Overview,
  Trends,
} from "../../../../http/admin/answers.js";
import { sinceOption } from "../../../core/values.js";
import { isObject } from "../../../../words/text.js";
import { pick, type Sanitizer } from "../../ai/sanitizer.js";
import type { InspectedSegment } from "../../segments.js";
import { TREND_PERIODS, WHAT } from "../../trends.js";
import { defineTool, document, optionalText, nullable, pageInput, pageOutput, readPage, text } from "../tool.js";
import { hostOf } from "./webhooks.js";

const overview = defineTool({
  name: "overview",
  title: "Overview",
  description:
    "The whole environment in numbers: customers in each lifecycle state, members of each segment, events, deliveries, and which version of the model is active.",
  effect: "reads",
  input: {},
  output: {
    configVersion: nullable(Type.String()),
    customers: Type.Integer(),
    customersSetAside: Type.Integer({ description: "Those that were set aside because evaluation failed." }),
    events: document("Accepted, pending, and dated in the future."),
    lifecycle: Type.Array(document("A state, how many customers are in it, and how many ever were.")),
    segments: Type.Array(document("A segment and how many members it has.")),
    webhooks: document("Deliveries by status."),
  },
  less: "ask for less with list_customers or list_segment_members",
  async run({ context: { api } }) {
    const { data } = await api.get<Overview>(["overview"], ["customers", "lifecycle", "segments"]);
    return pick(data, "configVersion", "customers", "customersSetAside", "events", "lifecycle", "segments", "webhooks");
  },
});

const trends = defineTool({
  name: "trends",
  title: "Trends",
  description:
    "How the environment developed by days, weeks or months: customers per lifecycle state, transitions (flows), segments, health, signals, active customers, operations or deliveries. Each series has one value for each period.",
  effect: "reads",
  input: {
    what: Type.Optional(Type.Enum([...WHAT], { description: "lifecycle unless given." })),
    every: Type.Optional(Type.Enum([...TREND_PERIODS], { description: "day unless given." })),
    from: optionalText("The first day, as 2026-03-01; 30 days, 12 weeks or 12 months ago unless given."),
    to: optionalText("The last day; today unless given."),
  },
  output: {
    what: Type.String(),
    every: Type.String(),
    timeZone: Type.String(),
    complete: Type.Boolean({ description: "False while earlier data is still being counted." }),
    recomputedAt: Type.Optional(
      Type.String({
        description:
          "Only of health: a recompute ran until then and kept one score of each customer. Periods before it miss most scores: say so, and do not compare with them.",
      }),
    ),
    periods: Type.Array(Type.String({ description: "The first day of each." })),
    series: Type.Array(document("The metric, what it is counted for, and the values.")),
  },
  less: "ask for fewer or longer periods: from, to, every",
  async run({ context: { api } }, query) {
    const { data } = await api.get<Trends>(["trends"], ["periods", "series"], { ...query });
    return pick(data, "what", "every", "timeZone", "complete", "recomputedAt", "periods", "series");
  },
});

const listTransitions = defineTool({
  name: "list_transitions",
  title: "Transitions of the lifecycle",
  description:
    "Which customers went from one lifecycle state to another, and when; the last written first. For numbers of them by days or weeks, use trends with what: flows.",
  effect: "reads",
  input: {
    entered: optionalText("Only those into this state."),
    left: optionalText("Only those out of this state."),
    from: optionalText("The first day, as 2026-03-01."),
    to: optionalText("The last day."),
    ...pageInput,
  },
  output: pageOutput({
    customer: Type.String(),
    from: nullable(Type.String(), "Null for a customer's first state."),
    to: Type.String(),
    at: Type.String(),
  }),
  async run(call, query) {
    const sanitizer = await call.sanitizer();
    return readPage(call, ["transitions"], query, ({ customerId, ...row }: ListedTransition) => ({
      customer: sanitizer.id("customer", customerId),
      ...pick(row, "from", "to", "at"),
    }));
  },
});

const journeyFunnel = defineTool({
  name: "journey_funnel",
  title: "Funnel of a journey",
  description:
    "How many runs of a journey completed each step, are at it now or expired there, and how long the steps take, in seconds. For the ids of journeys, use show_version; for one customer's progress, explain_customer.",
  effect: "reads",
  input: {
    journey: text("The journey's id."),
    since: optionalText("Only runs that started since: how long ago, such as 90d, or an ISO date."),
  },
  output: {
    runs: Type.Integer(),
    customers: Type.Integer(),
    active: Type.Integer(),
    complete: Type.Integer(),
    expired: Type.Integer(),
    secondsToComplete: nullable(document("Quartiles: lower, median, upper.")),
    steps: Type.Array(document("A step, its numbers of runs, and the quartiles of its duration.")),
  },
  async run({ context: { api } }, { journey, since }) {
    const query = { since: sinceOption("since", since) };
    const { data } = await api.get<JourneyFunnel>(["journeys", journey], ["runs", "steps"], query);
    return pick(data, "runs", "customers", "active", "complete", "expired", "secondsToComplete", "steps");
  },
});

const listSegmentMembers = defineTool({
  name: "list_segment_members",
  title: "Members of a segment",
  description:
    "Who is in a segment and since when; the first page also has its condition and statistics of its members. For the names of segments, use overview; for whether and why one customer is in it, explain_customer.",
  effect: "reads",
  input: { segment: text("The segment's id."), ...pageInput },
  output: {
    members: Type.Integer({ description: "How many there are." }),
    condition: Type.Optional(nullable(Type.String(), "Null if rules fill it, or the active version does not have it.")),
    statistics: Type.Optional(document("By lifecycle, health and last event.")),
    ...pageOutput({ customer: Type.String(), enteredAt: Type.String() }),
  },
  async run({ context: { api }, sanitizer: sanitizerOf }, { segment, limit = 20, cursor }) {
    const sanitizer = await sanitizerOf();
    const members = ["data", "nextCursor", "members"] as const;
    const { data } = await api.get<InspectedSegment>(["segments", segment], members, { limit, cursor });
    const { definition, statistics } = data;
    return {
      members: data.members,
      ...(definition === undefined ? {} : { condition: definition?.when ? conditionText(definition.when) : null }),
      ...(statistics === undefined ? {} : { statistics }),
      items: data.data.map(({ customerId, enteredAt }) => ({
        customer: sanitizer.id("customer", customerId),
        enteredAt,
      })),
      nextCursor: data.nextCursor,
    };
  },
});

const listSignals = defineTool({
  name: "list_signals",
  title: "Raised signals",
  description: "The signals that are currently raised, for customers that need attention; latest first.",
  effect: "reads",
  input: {
    signal: optionalText("Only this signal."),
    severity: Type.Optional(Type.Enum(["info", "warning", "critical"])),
    since: optionalText("Only those raised since: how long ago, such as 7d, or an ISO date."),
    ...pageInput,
  },
  output: pageOutput({
    customer: Type.String(),
    signal: Type.String(),
    severity: Type.String(),
    message: Type.Unknown(),
    raisedAt: Type.String(),
  }),
  async run(call, { since, ...query }) {
    const sanitizer = await call.sanitizer();
    const filters = { ...query, since: sinceOption("since", since) };
    return readPage(call, ["signals"], filters, ({ customerId, signalId, ...row }: ListedSignal) => ({
      customer: sanitizer.id("customer", customerId),
      signal: signalId,
      ...pick(row, "severity", "raisedAt"),
      message: sanitizer.value("message", row.message),
    }));
  },
});

const diagnose = defineTool({
  name: "diagnose",
  title: "Diagnose",
  description:
    "Problems of configuration or data, most severe first, and what to do about them; empty if there are none.",
  effect: "reads",
  input: {},
  less: "run svc diagnose instead, which shows everything",
  output: {
    problems: Type.Array(
      Type.Object({
        code: Type.String(),
        severity: Type.String(),
        message: Type.String(),
        fix: Type.String(),
        count: Type.Integer(),
        details: Type.Unknown({ description: "Details that help to find it." }),
      }),
    ),
  },
  async run({ context: { api }, sanitizer }) {
    const [decide, { data }] = await Promise.all([
      sanitizer(),
      api.get<{ data: Finding[] }>(["diagnostics"], ["data"]),
    ]);
    return {
      problems: data.data.map((finding) => ({
        ...pick(finding, "code", "severity", "message", "fix", "count"),
        details: sentDetails(decide, "", finding.details),
      })),
    };
  },
});

/** Members of findings that hold instants, or names of the model or the service; `message` is that of a removed part. */
const PLAIN = /^(at|\w+At|since|\w+Since|code|message|\w*[vV]ersion|ruleId|webhookId|recomputeId)$/;

/** A finding's details as they may be sent. @param name the member that contains the value */
function sentDetails(sanitizer: Sanitizer, name: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => sentDetails(sanitizer, name, one));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, sentDetails(sanitizer, key, part)]));
  }
  if (typeof value !== "string" || PLAIN.test(name)) return value;
  if (/customerId$/i.test(name)) return sanitizer.id("customer", value);
  if (/eventId$/i.test(name)) return sanitizer.id("event", value);
  // A received name that the model may not declare.
  if (/^(events?|path)$/.test(name)) return sanitizer.name(value);
  if (name === "url") return hostOf(value);
  return sanitizer.value(name, value);
}

export const environmentTools = [
  overview,
  trends,
  listTransitions,
  journeyFunnel,
  listSegmentMembers,
  listSignals,
  diagnose,
];
