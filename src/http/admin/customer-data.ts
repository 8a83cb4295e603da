import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TransactionSql } from "postgres";
import Type from "typebox";
import type { AdminCredentials, EnvironmentRef } from "../../db/api/access.js";
import { call } from "../../db/api/call.js";
import { onSnapshot } from "../../db/transaction.js";
import { ApiError } from "../errors.js";
import { envelopeOf } from "../middleware/handle-errors.js";
import type { CustomerWork } from "./work.js";
import { adminRoute } from "./route.js";
import {
  count,
  countOf,
  environment,
  exact,
  formerly,
  instant,
  jsonObject,
  named,
  orNull,
  versionName,
} from "./schemas.js";
import {
  cause,
  customerId,
  customerState,
  emission,
  endedScore,
  healthScore,
  journeyRun,
  raisedSignal,
  setAside,
} from "./customers.js";
import { deliveryAttempt } from "./deliveries.js";
import { eventId } from "./events.js";

const status = Type.Enum(["processed", "pending"]);
const generation = countOf("Which writing of the history it is of: the first is 0, and each recompute writes another.");
/** What a log says of each of its entries. */
const logged = { cause, configVersion: orNull(versionName), generation };

/** What the lists of an export hold, in the order of the document. */
const items = {
  identifies: exact({ acceptedAt: instant, traits: jsonObject("The traits as sent."), status }),
  events: exact({
    eventId,
    id: formerly(eventId, "eventId"),
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
  journeyRuns: exact({ ...journeyRun.properties, run: Type.Integer({ minimum: 1 }) }),
  healthScores: exact({ ...endedScore, components: healthScore.properties.components, at: instant, ...logged }),
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
  signals: exact({ ...raisedSignal.properties, clearedAt: orNull(instant) }),
  emissions: emission,
  deliveries: exact({
    id: Type.String({ description: "Of the emission.", examples: ["emi_0000000000000400"] }),
    webhookId: Type.String(),
    url: Type.String({ description: "Its origin and /…: the webhook has the rest." }),
    status: Type.Enum(["pending", "delivered", "failed"]),
    nextAttemptAt: orNull(instant),
    finishedAt: orNull(instant),
    body: orNull(jsonObject("What is sent; null where that is the emission alone.")),
    attempts: Type.Array(deliveryAttempt),
  }),
  recomputes: exact({
    recomputeId: Type.String({ examples: ["rec_5f0c81d2e4a94b7f12cd"] }),
    kind: Type.Enum(["recompute", "dry_run", "preview", "backtest"]),
    at: instant,
    difference: orNull(
      jsonObject("What it changes of the customer; of a backtest, what it noted of it."),
      "Null of a recompute of this customer alone that changes nothing, has not found out yet, or is so long ago that this is not kept.",
    ),
  }),
  quarantined: exact({
    eventId: orNull(eventId, "Null for an identify."),
    operation: jsonObject("The operation as sent."),
    quarantinedAt: instant,
    message: Type.String({ description: "Why it is in quarantine." }),
  }),
  retiredKeys: exact({ eventId, id: formerly(eventId, "eventId"), idempotencyKey: Type.String(), removedAt: instant }),
};

const customerExport = named("CustomerExport", {
  customerId,
  environment,
  exportedAt: instant,
  customer: orNull(customerState, "The present state; null where the customer's operations wait only."),
  generation: orNull(
    generation,
    "Of transitions, healthScores and ruleExecutions those of this generation are the history; the others were superseded by a recompute.",
  ),
  setAside,
  evaluation: orNull(jsonObject("What evaluation remembers.")),
  ...Object.fromEntries(Object.entries(items).map(([list, item]) => [list, Type.Array(item)])),
  retiredKeys: Type.Array(items.retiredKeys, {
    description: "Idempotency keys that are kept of events which were removed because of their age.",
  }),
});

const ERASED =
  "events identifies pending idempotencyKeys transitions blockedTransitions memberships journeyRuns healthScores " +
  "ruleExecutions signals emissions deliveries deliveryAttempts recomputes recomputeResults quarantined";
const erasure = exact({
  erased: named(
    "Erasure",
    "How many rows of each kind were erased.",
    Object.fromEntries(ERASED.split(" ").map((kind) => [kind, count])),
  ),
});

/** A payload has 64 KiB at most, so a part stays below 4 MiB, which holds up nobody. */
const ITEMS_OF_PART = 64;

/** What a recompute changes of a customer may be a thousand runs of rules and as many emissions. */
const RECOMPUTES_OF_PART = 10;

/** A snapshot that is held for long keeps the database from clearing up; whoever reads more slowly has to come again. */
const EXPORT_MS_MAX = 10 * 60_000;

/**
 * Everything that is held about a customer as one JSON document, read from one snapshot as fast as the reader takes it: neither side
 * holds more than a part of it. Where it cannot be read to its end the stream fails, so that nobody takes a part for the whole.
 *
 * Resolves once the snapshot is open. Throws what `open_export` raises, and QueueFullError where too many exports are under way.
 */
export async function streamExport(
  { sql, exports }: Pick<CustomerWork, "sql" | "exports">,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
): Promise<Readable> {
  const leave = await exports.take(by.organizationId);
  const document = new PassThrough();
  // Its failure is told to its reader, who may not be there yet, or any more.
  document.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    const late = () => new ApiError(503, "SERVICE_UNAVAILABLE", { reason: "The export was not read in time." });
    const overdue = setTimeout(() => document.destroy(late()), EXPORT_MS_MAX);
    void onSnapshot(sql, async (tx) => {
      const head = await call(tx, "open_export", by, at, customerId);
      resolve(document);
      await pipeline(partsOf(tx, head), document);
    })
      // Of no effect where it was resolved; the reader learns of it by the stream.
      .catch((thrown: unknown) => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        reject(error);
        document.destroy(error);
      })
      .finally(() => {
        clearTimeout(overdue);
        leave();
      });
  });
}

/** The document's text: the members that are no lists, then list by list. */
async function* partsOf(tx: TransactionSql, head: string): AsyncGenerator<string> {
  yield head.slice(0, head.lastIndexOf("}"));
  for (const list of Object.keys(items)) {
    yield `,\n"${list}":[`;
    const itemsMax = list === "recomputes" ? RECOMPUTES_OF_PART : ITEMS_OF_PART;
    for (let isFirst = true; ; isFirst = false) {
      const items = await call(tx, "fetch_export", list, itemsMax);
      if (items.length > 0) yield `${isFirst ? "\n" : ",\n"}${items.join(",\n")}`;
      if (items.length < itemsMax) break;
    }
    yield "]";
  }
  yield "}\n";
}

/** Everything that is held about one customer, to keep or to erase. */
export const customerDataRoutes = [
  adminRoute("export_customer", "GET /projects/:project/customers/:customerId/export", {
    summary: "Everything that is held about one customer, as one document",
    answers: { 200: customerExport },
    refusals: { 429: ["QUOTA_EXCEEDED"] },
    scarce: true,
    answer: async ({ deps, credentials, at, params, ctx }) => {
      const customerId = params["customerId"]!;
      await call(deps.sql, "export_customer", credentials, at, customerId);
      const document = await streamExport(deps.work, credentials, at, customerId);
      // Where it fails the answer has begun, so that nothing is left but to log it; the connection is broken off.
      document.on("error", (error) => envelopeOf(ctx, error));
      // A name that every file system takes and no shell or header reads anything into.
      const name = customerId.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 64);
      ctx.set("Content-Disposition", `attachment; filename="customer-${name}.json"`);
      return document;
    },
  }),
  // In one transaction. Later events of the id begin a new customer.
  adminRoute("erase_customer", "DELETE /projects/:project/customers/:customerId", {
    summary: "Erase everything that is held about one customer",
    answers: { 200: erasure },
    scarce: true,
    answer: ({ deps, credentials, at, params }) => {
      const { erasures, sql } = deps.work;
      const erase = () => call(sql, "erase_customer", credentials, at, params["customerId"]!);
      return erasures.run(erase, credentials.organizationId);
    },
  }),
];
