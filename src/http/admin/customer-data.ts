import { PassThrough, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TransactionSql } from "postgres";
import Type from "typebox";
import type { AdminCredentials, EnvironmentRef } from "../../db/api/access.js";
import { call } from "../../db/api/call.js";
import { onSnapshot } from "../../db/transaction.js";
import { ApiError } from "../errors.js";
import { envelopeOf } from "../middleware/handle-errors.js";
import type { CustomerWork } from "./slow-work.js";
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
  scoreOrEnd,
  healthScore,
  journeyRun,
  raisedSignal,
  setAside,
} from "./customers.js";
import { deliveryAttempt } from "./deliveries.js";
import { eventId } from "./events.js";

const status = Type.Enum(["processed", "pending"]);
const generation = countOf("The generation of the history: it is 0 at first, and each recompute writes a new one.");
/** Members of each entry of a log. */
const logged = { cause, configVersion: orNull(versionName), generation };

/** The items of the lists of an export, in the order of the document. */
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
  healthScores: exact({ ...scoreOrEnd, components: healthScore.properties.components, at: instant, ...logged }),
  ruleExecutions: exact({
    ruleId: Type.String(),
    result: Type.Enum(["pass", "fail", "skip", "error"]),
    triggeredBy: Type.String(),
    conditions: jsonObject("The result of the rule's condition."),
    action: jsonObject("The action of the rule when it passes."),
    error: orNull(Type.String()),
    executedAt: instant,
    ...logged,
  }),
  signals: exact({ ...raisedSignal.properties, clearedAt: orNull(instant) }),
  emissions: emission,
  deliveries: exact({
    id: Type.String({ description: "The id of the emission.", examples: ["emi_0000000000000400"] }),
    webhookId: Type.String(),
    url: Type.String({ description: "The origin and /…; the webhook has the whole URL." }),
    status: Type.Enum(["pending", "delivered", "failed"]),
    nextAttemptAt: orNull(instant),
    finishedAt: orNull(instant),
    body: orNull(jsonObject("The body of the message; null if it is made from the emission alone.")),
    attempts: Type.Array(deliveryAttempt),
  }),
  recomputes: exact({
    recomputeId: Type.String({ examples: ["rec_5f0c81d2e4a94b7f12cd"] }),
    kind: Type.Enum(["recompute", "dry_run", "preview", "backtest"]),
    at: instant,
    difference: orNull(
      jsonObject("What it changes about the customer; for a backtest, its samples of the customer."),
      "Null for a recompute of this customer alone that changes nothing, is not finished, or whose difference is no longer kept.",
    ),
  }),
  quarantined: exact({
    eventId: orNull(eventId, "Null for an identify operation."),
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
  customer: orNull(customerState, "The present state; null if none of the customer's operations has been evaluated."),
  generation: orNull(
    generation,
    "The present generation: transitions, healthScores and ruleExecutions of other generations were superseded by a recompute.",
  ),
  setAside,
  evaluation: orNull(jsonObject("The stored state of evaluation.")),
  ...Object.fromEntries(Object.entries(items).map(([list, item]) => [list, Type.Array(item)])),
  retiredKeys: Type.Array(items.retiredKeys, {
    description: "Idempotency keys that are kept after their events were removed because of their age.",
  }),
});

const ERASED =
  "events identifies pending idempotencyKeys transitions blockedTransitions memberships journeyRuns healthScores " +
  "ruleExecutions signals emissions deliveries deliveryAttempts recomputes recomputeResults quarantined";
const erasure = exact({
  erased: named(
    "Erasure",
    "Number of erased rows of each kind.",
    Object.fromEntries(ERASED.split(" ").map((kind) => [kind, count])),
  ),
});

/** A payload has at most 64 KiB, so a part has at most 4 MiB, which does not delay other requests. */
const ITEMS_OF_PART = 64;

/**
 * Lists with larger items: the difference of a recompute can contain a thousand rule executions and as many emissions, and a call of the tracking
 * API has up to 512 KiB.
 */
const ITEMS_OF_LARGE_PART: Readonly<Record<string, number>> = { recomputes: 10, quarantined: 8 };

/** A snapshot that stays open keeps the database from removing old rows; slower readers must request the export again. */
const EXPORT_MS_MAX = 10 * 60_000;

/**
 * All data of a customer as one JSON document, read from one snapshot of the database at the speed of the reader: both sides hold only a part of
 * it in memory. If it cannot be read to its end, the stream fails, so that a part is not taken for the whole.
 *
 * Resolves once the snapshot is open. Throws what `open_export` raises, and QueueFullError if too many exports are running.
 */
export async function streamExport(
  { sql, exports }: Pick<CustomerWork, "sql" | "exports">,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
): Promise<Readable> {
  const leave = await exports.take(by.organizationId);
  const document = new PassThrough();
  // The reader handles failures; this listener is for failures while it has not subscribed yet or no longer does.
  document.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    const overdueError = () => new ApiError(503, "SERVICE_UNAVAILABLE", { reason: "The export was not read in time." });
    const overdue = setTimeout(() => document.destroy(overdueError()), EXPORT_MS_MAX);
    void onSnapshot(sql, async (tx) => {
      const head = await call(tx, "open_export", by, at, customerId);
      resolve(document);
      await pipeline(partsOf(tx, head), document);
    })
      // `reject` has no effect after `resolve`; the reader then learns of the failure from the stream.
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

/** The text of the document: first the members that are not lists, then each list. */
async function* partsOf(tx: TransactionSql, head: string): AsyncGenerator<string> {
  yield head.slice(0, head.lastIndexOf("}"));
  for (const list of Object.keys(items)) {
    yield `,\n"${list}":[`;
    const itemsMax = ITEMS_OF_LARGE_PART[list] ?? ITEMS_OF_PART;
    for (let isFirst = true; ; isFirst = false) {
      const items = await call(tx, "fetch_export", list, itemsMax);
      if (items.length > 0) yield `${isFirst ? "\n" : ",\n"}${items.join(",\n")}`;
      if (items.length < itemsMax) break;
    }
    yield "]";
  }
  yield "}\n";
}

/** Export and erasure of all data of a customer. */
export const customerDataRoutes = [
  adminRoute("export_customer", "GET /projects/:project/customers/:customerId/export", {
    summary: "Export all data of one customer as one document",
    answers: { 200: customerExport },
    refusals: { 429: ["QUOTA_EXCEEDED"] },
    scarce: true,
    answer: async ({ deps, credentials, at, params, ctx }) => {
      const customerId = params["customerId"]!;
      await call(deps.sql, "export_customer", credentials, at, customerId);
      const document = await streamExport(deps.work, credentials, at, customerId);
      // When it fails, the answer has begun, so the failure can only be logged; the connection is closed.
      document.on("error", (error) => envelopeOf(ctx, error));
      // Nobody destroys it if the connection closes while this answer waits behind another one.
      const leave = () => document.destroy();
      ctx.socket.once("close", leave);
      if (ctx.socket.destroyed) leave();
      document.once("close", () => ctx.socket.off("close", leave));
      // A name that is valid in every file system and harmless in a shell or header.
      const name = customerId.replaceAll(/[^A-Za-z0-9._-]/g, "_").slice(0, 64);
      ctx.set("Content-Disposition", `attachment; filename="customer-${name}.json"`);
      return document;
    },
  }),
  // In one transaction. Later events with the same id create a new customer.
  adminRoute("erase_customer", "DELETE /projects/:project/customers/:customerId", {
    summary: "Erase all data of one customer",
    answers: { 200: erasure },
    scarce: true,
    answer: ({ deps, credentials, at, params }) => {
      const { erasures, sql } = deps.work;
      const erase = () => call(sql, "erase_customer", credentials, at, params["customerId"]!);
      return erasures.run(erase, credentials.organizationId);
    },
  }),
];
