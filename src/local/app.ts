import Router from "@koa/router";
import Koa, { type Context, type Next } from "koa";
import Type from "typebox";
import { QuestionProblem } from "../backtest/question.js";
import { seeOther } from "../console/page.js";
import {
  addRefusal,
  answerCalls,
  type CallType,
  parseCalls,
  readCallsText,
  type RefusedCalls,
  TRACKING_PATHS,
} from "../http/request/tracking-calls.js";
import { ApiError, type ErrorDiagnostic, throwProblem } from "../http/errors.js";
import { refuseUnmatched } from "../http/middleware/handle-errors.js";
import { assignRequestId, requireAddress, requireHost, setSecurityHeaders } from "../http/middleware/headers.js";
import { readJsonText } from "../http/request/body.js";
import { parseJson } from "../http/request/parse-json.js";
import { shape } from "../http/request/shapes.js";
import { BATCH_BYTES_MAX, batchRequestProblem, SINGLE_BYTES_MAX, singleRequestProblem } from "../ingestion/request.js";
import { mapCall } from "../ingestion/tracking.js";
import { trackingModelOf } from "../model/tracking.js";
import { backtestOfFile } from "./backtest.js";
import { moveClock } from "./clock.js";
import { addConsole } from "./console/routes.js";
import type { Accepted, LocalEngine, RequestOperation } from "./engine.js";
import { helpText } from "./help.js";
import type { AcceptedBatch } from "./population.js";
import type { RequestForm } from "./refusals.js";
import { addToReport, type Observe, reportAndAnswer } from "./report.js";

const OWN_NAMES = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Refuses requests that a web page may have sent. There is no authentication, and a browser on this machine can reach this server. Such
 * requests have a foreign host name, if the page's name resolves to this machine (DNS rebinding), or the header Origin.
 */
async function refuseWebPages(ctx: Context, next: Next): Promise<void> {
  const name = ctx.get("Host").replace(/:\d*$/, "").toLowerCase();
  if (!OWN_NAMES.has(name)) {
    throw new ApiError(403, "FORBIDDEN", {
      message: "The local engine answers under its own address only.",
      reason: "The header Host names another one.",
      fix: "Send requests to 127.0.0.1 or localhost.",
    });
  }
  const { origin } = ctx.req.headers;
  // Forms of the console itself.
  const isOurs = ctx.path.startsWith("/console/") && origin === `http://${ctx.get("Host")}`;
  if (origin !== undefined && !isOurs) {
    throw new ApiError(403, "FORBIDDEN", {
      message: "The local engine takes no requests from web pages.",
      reason: "The header Origin is present.",
      fix: "Send events from your backend, as in production, or from a terminal.",
    });
  }
  await next();
}

const CLOCK_BYTES_MAX = 1024;
const LIMIT = 50;
const LIMIT_MAX = 200;

/** The HTTP surface of the local engine. */
export function createLocalApp({ engine, observe }: { engine: LocalEngine; observe: Observe }): Koa {
  const router = new Router({ strict: true, sensitive: true });
  for (const prefix of ["", "/v1"]) {
    router.post(`${prefix}/events`, (ctx) => acceptSingle(ctx, engine));
    router.post(`${prefix}/events/batch`, (ctx) => acceptBatch(ctx, engine));
  }
  for (const [path, type] of TRACKING_PATHS) router.post(path, (ctx) => acceptCalls(ctx, engine, type));
  const get = (path: string, answer: (ctx: Context) => unknown) =>
    router.get(path, (ctx) => {
      ctx.body = answer(ctx);
    });
  addConsole(router, engine);
  router.get("/", (ctx) => {
    if (ctx.accepts("text", "html") === "html") seeOther(ctx, "/console");
    else ctx.body = helpText(`http://${ctx.get("Host")}`, engine);
  });
  get("/customers", (ctx) => page(ctx, engine.population.customerIds, (id) => engine.document(id)));
  get("/customers/:id", (ctx) => found(engine.document(idOf(ctx)), ctx));
  get("/customers/:id/timeline", (ctx) => {
    found(engine.document(idOf(ctx)), ctx);
    const entries = new Map(engine.population.timeline(idOf(ctx)).map((entry) => [entry.id, entry]));
    return page(ctx, [...entries.keys()], (id) => entries.get(id));
  });
  get("/customers/:id/explanation", (ctx) => found(engine.explanation(idOf(ctx)), ctx));
  const { clock } = engine;
  get("/clock", () => ({ now: iso(clock.now()), kind: clock.kind, nextDueAt: iso(engine.population.nextDueAt) }));
  router.delete("/customers", (ctx) => {
    engine.reset();
    ctx.status = 204;
  });
  router.post("/clock", (ctx) => setClock(ctx, engine));
  router.post("/backtest", (ctx) => answerBacktest(ctx, engine));

  const app = new Koa();
  app.use(assignRequestId);
  app.use(setSecurityHeaders);
  app.use(reportAndAnswer(observe));
  app.use(requireAddress);
  app.use(requireHost);
  app.use(refuseWebPages);
  app.use(router.routes());
  app.use(refuseUnmatched(router));
  // An answer could not be sent because the client has disconnected: ignore it.
  app.on("error", () => undefined);
  return app;
}

async function acceptSingle(ctx: Context, engine: LocalEngine): Promise<void> {
  const text = await readJsonText(ctx, SINGLE_BYTES_MAX);
  const body = parseJson(text);
  throwProblem(singleRequestProblem(body, text));
  const accepted = accept(ctx, engine, [body as RequestOperation], "single");
  const [outcome] = accepted.outcomes;
  const { customerId } = body as RequestOperation;
  ctx.status = 202;
  ctx.body = {
    eventId: outcome!.eventId,
    accepted: true,
    queued: true,
    duplicate: outcome!.duplicate,
    // The same form as the service's, without an index, since there is only one operation.
    quarantined: accepted.quarantined.map(({ index: _, ...violation }) => violation)[0],
    state: engine.document(customerId),
    ...diagnosticsOf(accepted),
  };
}

async function acceptBatch(ctx: Context, engine: LocalEngine): Promise<void> {
  const text = await readJsonText(ctx, BATCH_BYTES_MAX);
  const body = parseJson(text);
  throwProblem(batchRequestProblem(body, text));
  const { events } = body as { events: RequestOperation[] };
  const accepted = accept(ctx, engine, events, "batch");
  const customerIds = new Set(events.map(({ customerId }) => customerId));
  ctx.status = 202;
  ctx.body = {
    accepted: accepted.outcomes.length,
    rejected: 0,
    eventIds: accepted.outcomes.map(({ eventId }) => eventId).filter((id) => id !== null),
    quarantined: accepted.quarantined.length === 0 ? undefined : accepted.quarantined,
    // A customer whose operations are all in quarantine has no state.
    states: [...customerIds].map((customerId) => engine.document(customerId)).filter((state) => state !== undefined),
    ...diagnosticsOf(accepted),
  };
}

/** Accepts calls of Segment's tracking API, and answers like the service. What the service would put in quarantine is reported, but not kept. */
async function acceptCalls(ctx: Context, engine: LocalEngine, type: CallType): Promise<void> {
  const calls = parseCalls(await readCallsText(ctx), type);
  const model = trackingModelOf(engine.snapshot);
  const mapped = calls.map((call, index) => ({ index, ...mapCall(model, call, engine.clock.now()) }));
  const taken = mapped.flatMap((each) => (each.kind === "operation" ? [each] : []));
  const operations = taken.map(({ operation }): RequestOperation => {
    if (operation.type === "track") return operation;
    // Idempotency keys of identifies are handled only by the database.
    const { idempotencyKey: _, ...identify } = operation;
    return identify;
  });
  const problems = mapped.flatMap((each) => (each.kind === "problem" ? [{ index: each.index, ...each.problem }] : []));
  const refused = mapped.flatMap((each) => (each.kind === "refused" ? [{ index: each.index, ...each.problem }] : []));
  addToReport(ctx, { operations });
  const accepted = operations.length === 0 ? null : engine.accept(operations, "batch", { ofCalls: true });
  const violations = accepted?.quarantined.map((each) => ({ ...each, index: taken[each.index]!.index })) ?? [];
  addToReport(ctx, {
    changes: accepted?.changes ?? [],
    diagnostics: [...(accepted?.diagnostics ?? []), ...problems, ...refused, ...violations],
    duplicates: accepted?.outcomes.filter(({ duplicate }) => duplicate).length ?? 0,
  });
  const refusals: RefusedCalls = { count: 0, first: [] };
  for (const each of refused) addRefusal(refusals, each.index, each);
  answerCalls(ctx, type, problems.length + violations.length, refusals);
}

function accept(ctx: Context, engine: LocalEngine, operations: RequestOperation[], form: RequestForm): Accepted {
  // Noted before they are accepted, so that the report of a refusal has them, too.
  addToReport(ctx, { operations });
  const accepted = engine.accept(operations, form);
  const { changes, outcomes } = accepted;
  const diagnostics = [...accepted.diagnostics, ...accepted.quarantined];
  addToReport(ctx, { changes, diagnostics, duplicates: outcomes.filter(({ duplicate }) => duplicate).length });
  return accepted;
}

function diagnosticsOf({ diagnostics }: Accepted): { diagnostics?: ErrorDiagnostic[] } {
  return diagnostics.length === 0 ? {} : { diagnostics };
}

async function setClock(ctx: Context, engine: LocalEngine): Promise<void> {
  moveClock(engine.clock, parseJson(await readJsonText(ctx, CLOCK_BYTES_MAX)));
  const changes = engine.advance();
  addToReport(ctx, { changes });
  const emissions = changes.flatMap(({ customerId, entries }) => entries.map((entry) => ({ customerId, ...entry })));
  ctx.body = {
    now: iso(engine.clock.now()),
    evaluated: changes.length,
    emissions: emissions.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    nextDueAt: iso(engine.population.nextDueAt),
  };
}

const BACKTEST_BYTES_MAX = 4_096;

/** The same body as the service's, but without models, since there is only one. */
const backtestRequest = shape(
  Type.Object(
    {
      outcome: Type.String(),
      within: Type.String(),
      every: Type.Optional(Type.String()),
      from: Type.Optional(Type.String()),
      to: Type.Optional(Type.String()),
      customers: Type.Optional(Type.Integer({ minimum: 1 })),
      traits: Type.Optional(Type.Enum(["then", "now"])),
    },
    { additionalProperties: false },
  ),
);

/** Answers with the report of a backtest of the present model, over the operations accepted until now. @throws {ApiError} VALIDATION_ERROR */
async function answerBacktest(ctx: Context, engine: LocalEngine): Promise<void> {
  const {
    customers,
    traits = "then",
    ...words
  } = backtestRequest.check(parseJson(await readJsonText(ctx, BACKTEST_BYTES_MAX)));
  const { snapshot, hash } = engine;
  const now = engine.clock.now();
  const operations = engine.operations(now);
  try {
    const past = { operations, end: lastEventAt(operations, now) };
    const { report } = await backtestOfFile(words, [{ name: "local", snapshot, hash }], past, { traits, customers });
    ctx.body = report;
  } catch (error) {
    if (!(error instanceof QuestionProblem)) throw error;
    const { path: field, message, fix } = error;
    throw new ApiError(400, "VALIDATION_ERROR", { message, field, fix });
  }
}

/** The instant of the latest event that is not in the future; the present if there is none. */
function lastEventAt(operations: AcceptedBatch["operations"], present: number): number {
  let last = -Infinity;
  for (const { operation } of operations) {
    if (operation.kind === "track" && operation.occurredAt <= present) last = Math.max(last, operation.occurredAt);
  }
  return last === -Infinity ? present : last;
}

function idOf(ctx: Context): string {
  return (ctx as Context & { params: Record<string, string> }).params["id"]!;
}

function found<T>(document: T | undefined, ctx: Context): T {
  if (document !== undefined) return document;
  throw new ApiError(404, "CUSTOMER_NOT_FOUND", {
    message: `There is no customer "${idOf(ctx).slice(0, 256)}" here.`,
    reason: "A customer exists from its first operation on, until the process ends.",
    fix: "Send an event of the customer first; GET /customers lists those that exist.",
  });
}

function iso(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}

/** The page of a list for `?limit=&cursor=`, like those of the service. @param keys ascending and unique @throws {ApiError} VALIDATION_ERROR */
function page<T>(ctx: Context, keys: readonly string[], item: (key: string) => T) {
  const { limit, cursor, ...others } = ctx.query;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(unknown, "is not known here", "Remove it. Known are limit and cursor.");
  const size = limit === undefined ? LIMIT : Number(limit);
  if (!Number.isInteger(size) || size < 1 || size > LIMIT_MAX) {
    throw invalid("limit", `must be a whole number from 1 to ${LIMIT_MAX}`, "Correct it, or leave it out.");
  }
  const after = cursor === undefined ? null : decode(cursor);
  const rest = after === null ? keys : keys.filter((key) => key > after);
  const shown = rest.slice(0, size);
  return { data: shown.map(item), nextCursor: rest.length > size ? encode(shown.at(-1)!) : null };
}

function encode(key: string): string {
  return Buffer.from(key, "utf8").toString("base64url");
}

function decode(cursor: string | string[]): string {
  const key = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("utf8") : "";
  if (key !== "" && encode(key) === cursor) return key;
  const fix = "Send a nextCursor as it came, or leave it out for the first page.";
  throw invalid("cursor", "is not one of this list", fix);
}

function invalid(field: string, problem: string, fix: string): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", {
    message: `\`${field.slice(0, 100)}\` ${problem}.`,
    field: field.slice(0, 100),
    fix,
  });
}
