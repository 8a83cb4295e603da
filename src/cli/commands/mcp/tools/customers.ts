import Type from "typebox";

import type { Emission, ListedCustomer } from "../../../../http/admin/answers.js";
import { durationOf } from "../../../core/values.js";
import { sendUninterrupted } from "../../../output/change.js";
import { readCustomer, sentCustomer, sentEmission, sentSetAside } from "../../ai/customer.js";
import { pick } from "../../ai/sanitizer.js";
import { ANSWER_BYTES_MAX } from "../answer.js";
import {
  customerInput,
  defineTool,
  document,
  optionalText,
  nullable,
  pageInput,
  pageOutput,
  readPage,
} from "../tool.js";

const health = nullable(document("The overall score, its band, and the score a week ago."));

const listCustomers = defineTool({
  name: "list_customers",
  title: "Find customers",
  description:
    "Customers with their lifecycle state, health, segments and signals, filtered and sorted. For the reasons of one customer's state, use explain_customer.",
  effect: "reads",
  input: {
    lifecycle: optionalText("Only those in this lifecycle state."),
    segment: optionalText("Only members of this segment."),
    health: optionalText("Only those whose health is in this band."),
    signal: optionalText("Only those for whom this signal is raised."),
    traits: Type.Optional(
      document('Only those with these traits, such as {"plan": "pro"} or {"mrr": {"atLeast": 1000, "atMost": 5000}}.'),
    ),
    search: optionalText("Only those whose id or traits contain this text."),
    inactive: optionalText("Only those without an event for this long, such as 14d."),
    setAside: Type.Optional(Type.Boolean({ description: "Only those that were set aside because evaluation failed." })),
    sort: Type.Optional(
      Type.Enum(["customerId", "lastEvent", "health"], { description: "Lowest first; by id unless given." }),
    ),
    reverse: Type.Optional(Type.Boolean({ description: "Highest first." })),
    ...pageInput,
  },
  output: pageOutput({
    customer: Type.String(),
    lifecycle: nullable(Type.String()),
    lifecycleEnteredAt: nullable(Type.String()),
    health,
    segments: Type.Array(Type.String()),
    signals: Type.Array(Type.Object({ signal: Type.String(), severity: Type.String() })),
    lastEventAt: nullable(Type.String()),
    setAside: nullable(document("When it was set aside, and why.")),
  }),
  async run(call, { traits, inactive, ...query }) {
    const sanitizer = await call.sanitizer();
    const filters = {
      ...query,
      traits: traits && JSON.stringify(traits),
      inactive: durationOf("inactive", inactive),
    };
    return readPage(call, ["customers"], filters, (row: ListedCustomer) => ({
      customer: sanitizer.id("customer", row.customerId),
      ...pick(row, "lifecycle", "lifecycleEnteredAt", "segments", "lastEventAt"),
      health: row.health && { ...pick(row.health, "overall", "band"), weekAgo: row.healthWeekAgo },
      signals: row.signals.map(({ signalId, severity }) => ({ signal: signalId, severity })),
      setAside: sentSetAside(row.setAside, sanitizer),
    }));
  },
});

const PARTS = ["lifecycle", "journeys", "segments", "health", "signals"] as const;

const explainCustomer = defineTool({
  name: "explain_customer",
  title: "Explain a customer",
  description:
    "One customer's state and the reasons for it: findings (problems and possible problems), state, each condition that currently applies with what is met and missing, the latest changes, events and runs of rules. Use it for questions such as why a customer is at risk, or not activated.",
  effect: "reads",
  input: {
    customer: customerInput,
    at: optionalText(
      "The state and its reasons at this past instant. A millisecond before lifecycleEnteredAt they show what led to the present lifecycle state. Findings, timeline, events and ruleRuns are those of now all the same.",
    ),
    part: Type.Optional(Type.Enum([...PARTS], { description: "Explain only this part; all unless given." })),
  },
  less: "ask for one part: lifecycle, journeys, segments, health or signals",
  output: {
    customer: Type.String(),
    findings: Type.Array(Type.String({ description: "A problem or possible problem, and what to do." })),
    state: document("The customer's state."),
    backlog: document("Operations that wait for evaluation."),
    why: document("The conditions of each part, with what is met and missing."),
    timeline: Type.Array(document("A change of the state; the newest last.")),
    events: Type.Array(document("An event; the newest last.")),
    ruleRuns: Type.Array(document("A run of a rule; the newest last.")),
  },
  async run(call, { customer, part, at }) {
    const sanitizer = await call.sanitizer();
    const record = await readCustomer(call.context, call.customerId(customer), at);
    const { why, ...sent } = sentCustomer(record, sanitizer, ANSWER_BYTES_MAX - 1024);
    const others = new Set<string>(part === undefined ? [] : PARTS.filter((one) => one !== part));
    const asked = Object.fromEntries(Object.entries(why).filter(([name]) => !others.has(name)));
    // Named as in the call, which reveals nothing new.
    return { ...sent, customer, why: asked };
  },
});

const customerTimeline = defineTool({
  name: "customer_timeline",
  title: "A customer's timeline",
  description: "Every change of one customer's state, with its cause; newest first unless oldestFirst.",
  effect: "reads",
  input: {
    customer: customerInput,
    oldestFirst: Type.Optional(Type.Boolean()),
    ...pageInput,
  },
  output: pageOutput({
    at: Type.String(),
    type: Type.String(),
    source: Type.String(),
    metadata: document("What changed; depends on the type."),
    cause: document("The event, the trait update or the timer that caused it."),
  }),
  async run(call, { customer, oldestFirst, ...page }) {
    const sanitizer = await call.sanitizer();
    const query = { ...page, reverse: !oldestFirst };
    const path = ["customers", call.customerId(customer), "timeline"];
    return readPage(call, path, query, (row: Emission) => sentEmission(row, sanitizer));
  },
});

export const customerTools = [listCustomers, explainCustomer, customerTimeline];

/** A change: releases a customer that was set aside, to be evaluated again. */
export const releaseCustomer = defineTool({
  name: "release_customer",
  title: "Release a customer",
  description:
    "Evaluate again a customer that was set aside because its evaluation failed. Only once the cause is fixed; otherwise it is set aside again.",
  effect: "changes",
  input: { customer: customerInput },
  output: { released: Type.Integer({ description: "1, or 0 if it was not set aside." }) },
  async run(call, { customer }) {
    const path = ["customers", call.customerId(customer), "release"];
    const { data } = await sendUninterrupted("explain_customer", () =>
      call.context.api.post<{ released: number }>(path, {}, ["released"]),
    );
    return { released: data.released };
  },
});
