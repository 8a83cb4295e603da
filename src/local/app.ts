import Router from "@koa/router";
import Koa, { type Context } from "koa";
import { readJsonText } from "../http/body.js";
import { parseJson } from "../http/parse-json.js";
import { ApiError, type Diagnostic } from "../http/errors.js";
import { assignRequestId } from "../http/request-id.js";
import { requireHost } from "../http/require-host.js";
import { setSecurityHeaders } from "../http/security-headers.js";
import { refuseUnmatched } from "../http/unmatched.js";
import {
  BATCH_BYTES_MAX,
  SINGLE_BYTES_MAX,
  batchRequestProblem,
  singleRequestProblem,
  type RequestProblem,
} from "../operations/request.js";
import type { Accepted, LocalEngine, RequestOperation } from "./engine.js";
import { refuseWebPages } from "./guard.js";
import { helpText } from "./help.js";
import { moveClock } from "./move-clock.js";
import { page } from "./page.js";
import type { RequestForm } from "./refusals.js";
import { note, reportAndAnswer, type Observe } from "./report.js";

export interface LocalAppOptions {
  engine: LocalEngine;
  observe: Observe;
}

const CLOCK_BYTES_MAX = 1024;

/** The HTTP surface of the local engine. */
export function createLocalApp({ engine, observe }: LocalAppOptions): Koa {
  const router = new Router({ strict: true, sensitive: true });
  for (const prefix of ["", "/v1"]) {
    router.post(`${prefix}/events`, (ctx) => acceptSingle(ctx, engine));
    router.post(`${prefix}/events/batch`, (ctx) => acceptBatch(ctx, engine));
  }
  router.get("/", (ctx) => {
    ctx.body = helpText(`http://${ctx.get("Host")}`, engine);
  });
  router.get("/customers", (ctx) => {
    ctx.body = page(
      ctx,
      engine.customerIds,
      (id, cursor) => id > cursor,
      (id) => engine.document(id),
    );
  });
  router.delete("/customers", (ctx) => {
    engine.reset();
    ctx.status = 204;
  });
  router.get("/customers/:id", (ctx) => {
    ctx.body = found(engine.document(idOf(ctx)), ctx);
  });
  router.get("/customers/:id/timeline", (ctx) => {
    found(engine.document(idOf(ctx)), ctx);
    const entries = new Map(engine.timeline(idOf(ctx)).map((entry) => [entry.id, entry]));
    ctx.body = page(
      ctx,
      [...entries.keys()],
      (id, cursor) => id > cursor,
      (id) => entries.get(id),
    );
  });
  router.get("/customers/:id/explanation", (ctx) => {
    ctx.body = found(engine.explanation(idOf(ctx)), ctx);
  });
  router.get("/clock", (ctx) => {
    ctx.body = { now: iso(engine.clock.now()), kind: engine.clock.kind, nextDueAt: iso(engine.nextDueAt) };
  });
  router.post("/clock", (ctx) => setClock(ctx, engine));

  const app = new Koa();
  app.use(assignRequestId);
  app.use(setSecurityHeaders);
  app.use(reportAndAnswer(observe));
  app.use(requireHost);
  app.use(refuseWebPages);
  app.use(router.routes());
  app.use(refuseUnmatched(router));
  // What could not be sent, because the client left: there is nobody to tell.
  app.on("error", () => undefined);
  return app;
}

async function acceptSingle(ctx: Context, engine: LocalEngine): Promise<void> {
  const text = await readJsonText(ctx, SINGLE_BYTES_MAX);
  const body = parseJson(text);
  refuse(singleRequestProblem(body, text));
  const accepted = accept(ctx, engine, [body as RequestOperation], "single");
  const [outcome] = accepted.outcomes;
  const { customerId } = body as RequestOperation;
  ctx.status = 202;
  ctx.body = {
    eventId: outcome!.eventId,
    accepted: true,
    queued: true,
    duplicate: outcome!.duplicate,
    state: engine.document(customerId),
    ...diagnosticsOf(accepted),
  };
}

async function acceptBatch(ctx: Context, engine: LocalEngine): Promise<void> {
  const text = await readJsonText(ctx, BATCH_BYTES_MAX);
  const body = parseJson(text);
  refuse(batchRequestProblem(body, text));
  const { events } = body as { events: RequestOperation[] };
  const accepted = accept(ctx, engine, events, "batch");
  const customerIds = new Set(events.map(({ customerId }) => customerId));
  ctx.status = 202;
  ctx.body = {
    accepted: accepted.outcomes.length,
    rejected: 0,
    eventIds: accepted.outcomes.map(({ eventId }) => eventId).filter((id) => id !== null),
    states: [...customerIds].map((customerId) => engine.document(customerId)),
    ...diagnosticsOf(accepted),
  };
}

function accept(ctx: Context, engine: LocalEngine, operations: RequestOperation[], form: RequestForm): Accepted {
  // Before they are accepted, so that the report of a refusal has them too.
  note(ctx, { operations });
  const accepted = engine.accept(operations, form);
  const { changes, diagnostics, outcomes } = accepted;
  note(ctx, { changes, diagnostics, duplicates: outcomes.filter(({ duplicate }) => duplicate).length });
  return accepted;
}

function diagnosticsOf({ diagnostics }: Accepted): { diagnostics?: Diagnostic[] } {
  return diagnostics.length === 0 ? {} : { diagnostics };
}

async function setClock(ctx: Context, engine: LocalEngine): Promise<void> {
  moveClock(engine.clock, parseJson(await readJsonText(ctx, CLOCK_BYTES_MAX)));
  const changes = engine.advance();
  note(ctx, { changes });
  const emissions = changes.flatMap(({ customerId, entries }) => entries.map((entry) => ({ customerId, ...entry })));
  ctx.body = {
    now: iso(engine.clock.now()),
    evaluated: changes.length,
    emissions: emissions.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    nextDueAt: iso(engine.nextDueAt),
  };
}

function refuse(problem: RequestProblem | null): void {
  if (problem === null) return;
  const { code, ...detail } = problem;
  throw new ApiError(400, code, detail);
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

function iso(instant: number): string;
function iso(instant: number | null): string | null;
function iso(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
