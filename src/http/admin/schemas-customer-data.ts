import Type from "typebox";
import type { ExportList } from "../../db/calls-customer-data.js";
import { count, environmentName, exact, instant, jsonObject, orNull, version } from "./schemas-common.js";
import { cause, customerId, customerState, emission, health, journeyProgress, setAside } from "./schemas-customer.js";
import { attempt } from "./schemas-webhook.js";

const status = Type.Enum(["processed", "pending"]);
const generation = Type.Integer({
  minimum: 0,
  description: "Which writing of the history it is of: the first is 0, and each recompute writes another.",
});
const eventId = Type.String({ examples: ["evt_0000000000000400"] });
/** What a log says of each of its entries. */
const logged = { cause, configVersion: orNull(version), generation };

/** An item of each list. */
const items = {
  identifies: exact({ acceptedAt: instant, traits: jsonObject("The traits as sent."), status }),
  events: exact({
    id: eventId,
    event: Type.String(),
    properties: jsonObject("The properties as sent."),
    occurredAt: instant,
    acceptedAt: instant,
    idempotencyKey: orNull(Type.String()),
    status,
  }),
  transitions: exact({ from: orNull(Type.String()), to: Type.String(), at: instant, ...logged }),
  blockedTransitions: exact({ from: Type.String(), to: Type.String(), at: instant }),
  memberships: exact({ segment: Type.String(), enteredAt: instant, exitedAt: orNull(instant) }),
  journeyRuns: exact({ ...journeyProgress.properties, run: Type.Integer({ minimum: 1 }) }),
  healthScores: exact({ ...health.properties, at: instant, ...logged }),
  ruleExecutions: exact({
    ruleId: Type.String(),
    result: Type.Enum(["pass", "fail", "skip", "error"]),
    triggeredBy: Type.String(),
    conditions: jsonObject("How the rule's condition came out."),
    action: jsonObject("What the rule does when it passes."),
    error: orNull(Type.String()),
    executedAt: instant,
    ...logged,
  }),
  signals: exact({
    signalId: Type.String(),
    severity: Type.Enum(["info", "warning", "critical"]),
    message: orNull(Type.String()),
    raisedAt: instant,
    clearedAt: orNull(instant),
  }),
  emissions: emission,
  deliveries: exact({
    id: Type.String({ description: "Of the emission.", examples: ["emi_0000000000000400"] }),
    webhookId: Type.String(),
    url: Type.String(),
    status: Type.Enum(["pending", "delivered", "failed"]),
    nextAttemptAt: orNull(instant),
    finishedAt: orNull(instant),
    attempts: Type.Array(attempt),
  }),
  recomputes: exact({
    recomputeId: Type.String({ examples: ["rec_5f0c81d2e4a94b7f12cd"] }),
    kind: Type.Enum(["recompute", "dry_run", "preview"]),
    at: instant,
    difference: orNull(
      jsonObject("What it changes of the customer."),
      "Null of a recompute of this customer alone that changes nothing, has not found out yet, or is so long ago that this is not kept.",
    ),
  }),
  retiredKeys: exact({ id: eventId, idempotencyKey: Type.String(), removedAt: instant }),
} satisfies Record<ExportList, unknown>;

/** Everything that is held about one customer. */
export const customerExport = exact(
  {
    customerId,
    environment: environmentName,
    exportedAt: instant,
    customer: orNull(customerState, "The present state; null where the customer's operations wait only."),
    generation: orNull(
      generation,
      "Of transitions, healthScores and ruleExecutions those of this generation are the history; the others were superseded by a recompute.",
    ),
    setAside,
    evaluation: orNull(jsonObject("What evaluation remembers.")),
    identifies: Type.Array(items.identifies),
    events: Type.Array(items.events),
    transitions: Type.Array(items.transitions),
    blockedTransitions: Type.Array(items.blockedTransitions),
    memberships: Type.Array(items.memberships),
    journeyRuns: Type.Array(items.journeyRuns),
    healthScores: Type.Array(items.healthScores),
    ruleExecutions: Type.Array(items.ruleExecutions),
    signals: Type.Array(items.signals),
    emissions: Type.Array(items.emissions),
    deliveries: Type.Array(items.deliveries),
    recomputes: Type.Array(items.recomputes),
    retiredKeys: Type.Array(items.retiredKeys, {
      description: "Idempotency keys that are kept of events which were removed because of their age.",
    }),
  },
  { title: "CustomerExport" },
);

/** How many rows of each kind were erased. */
export const erasure = exact({
  erased: exact(
    {
      events: count,
      identifies: count,
      pending: count,
      idempotencyKeys: count,
      transitions: count,
      blockedTransitions: count,
      memberships: count,
      journeyRuns: count,
      healthScores: count,
      ruleExecutions: count,
      signals: count,
      emissions: count,
      deliveries: count,
      deliveryAttempts: count,
      recomputes: count,
      recomputeResults: count,
    },
    { title: "Erasure", description: "How many rows of each kind were erased." },
  ),
});
