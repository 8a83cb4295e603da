import type { AdminCredentials, EnvironmentRef } from "../../db/api/access.js";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { Context } from "koa";
import type { Sql } from "postgres";
import type { Static, TObject, TSchema } from "typebox";
import { call, callBytes, type AnswerOf, type ArgumentsOf, type FunctionName } from "../../db/api/call.js";

import type { Mailer } from "../../mail/mailer.js";
import { readJsonBody, readJsonText } from "../request/body.js";
import { bearerToken, hashCredential } from "../request/credentials.js";
import { ApiError } from "../errors.js";
import { countJson } from "../request/json-limits.js";
import { largeBodies } from "../request/large-bodies.js";
import type { Declaration } from "../openapi/administrative.js";
import { PARSER_LIMITS, parseJson } from "../request/parse-json.js";
import type { Route } from "../route.js";
import { readSubmission, refuseBadLiterals, type SubmissionKind } from "./submitted-snapshot.js";
import { emptyObject, readPathText, readQueryText } from "./parameters.js";
import { needsMembers, shape, type RequestShape } from "../request/shapes.js";
import type { AiQuestions } from "./ai-questions.js";
import type { CustomerWork } from "./customer-work.js";
import type { Semaphore } from "../semaphore.js";
import type { WebhookTests } from "./webhook-tests.js";

/** What the administrative routes need. */
export interface AdminDeps {
  sql: Sql;
  /** Of `sealingKey`: encrypts webhook secrets. */
  sealingKey: Buffer;
  /** SVC_WEBHOOK_ALLOW_PRIVATE. */
  allowPrivateWebhooks: boolean;
  /** Where people reach the service, without a slash at the end. */
  publicUrl: () => string;
  /** Null where no mail is set up. */
  mailer: Mailer | null;
  /** What takes longer than a look-up. */
  work: CustomerWork;
  webhookTests: WebhookTests;
  /** Null where no language model is set up. */
  ai: AiQuestions | null;
}

/** What each of them is bound to. */
export interface BoundDeps extends AdminDeps {
  /** Of the calls to `sql`: one for each of its connections, so that what waits is bounded in number and in time. */
  calls: Semaphore;
}

/** A request that has a token, an organization, and a query and body of the declared shape. */
export interface AdminCall<Query extends TSchema, Body extends TSchema> {
  deps: BoundDeps;
  credentials: AdminCredentials;
  /** Calls a function of the database with the credentials. */
  call: <Name extends AdminFunction>(name: Name, ...args: FurtherArguments<Name>) => Promise<AnswerOf<Name>>;
  /** The environment that a path below `/projects/:project` and `?env=` name; of a query without `env`, none. */
  at: Static<Query> extends { env: EnvironmentRef["environment"] } ? EnvironmentRef : undefined;
  params: Readonly<Record<string, string>>;
  query: Static<Query>;
  body: Static<Body>;
  /** Of the request, for answers that need more than this. */
  ctx: Context;
}

export interface AdminAnswer {
  status: number;
  /** JSON text as the database made it, also in UTF-8, a value to render, or a stream of what `type` says. */
  document: string | Buffer | object | Readable;
  /** The media type; JSON unless given. */
  type?: string;
}

interface BodyShape<Body extends TSchema> {
  schema: Body;
  bytesMax: number;
  /** How deep it may nest, where its schema takes whatever there is. */
  depthMax?: number;
  /** Read as `readSubmission` does, because a snapshot takes long. */
  submission?: SubmissionKind;
}

/** What takes the credentials first. */
type AdminFunction = {
  [Name in FunctionName]: ArgumentsOf<Name> extends readonly [AdminCredentials, ...infer _] ? Name : never;
}[FunctionName];

/** What such a function takes besides. */
type FurtherArguments<Name> = Name extends AdminFunction
  ? ArgumentsOf<Name> extends readonly [unknown, ...infer Further]
    ? Further
    : never
  : never;

interface AdminRoute<Query extends TObject, Body extends TSchema, Operation extends string> extends Declaration {
  operation: Operation;
  query?: Query;
  body?: BodyShape<Body>;
  /**
   * What it takes is scarce, so that nobody waits for it who may not have it: authorized first, as is whatever has a body. It has places of
   * its own, and waits for them in none of the others'.
   */
  scarce?: true;
  answer?: (call: AdminCall<Query, Body>) => Promise<AdminAnswer>;
  /** Instead: the function of the operation's name is called with these arguments, and its document answered. */
  passes?: (call: AdminCall<Query, Body>) => FurtherArguments<Operation>;
}

const ORGANIZATION_LENGTH_MAX = 200;

/** Makes a route of an endpoint: credentials, query and body are read and checked, then `answer` is called and its answer rendered. */
export function adminRoute<
  const Operation extends string,
  const Query extends TObject = typeof emptyObject,
  const Body extends TSchema = TSchema,
>(route: AdminRoute<Query, Body, Operation>): (deps: BoundDeps) => Route {
  const queryShape = shape((route.query ?? emptyObject) as Query);
  const bodyShape = route.body && shape(route.body.schema);
  return (deps) => ({
    method: route.method,
    path: route.path,
    declaration: route,
    handle: async (ctx) => {
      const credentials = readCredentials(ctx, route.organization !== false);
      // Not the organization, which anybody may name.
      const who = credentials.tokenHash.toString("base64");
      const params = readPathText(ctx, route.path);
      const query = readQuery(ctx, queryShape);
      if (route.body || route.scarce) {
        await deps.calls.run(
          () => call(deps.sql, "authorize_request", credentials, route.operation, environmentOf(query)),
          who,
        );
      }
      const body = route.body && bodyShape && (await readBody(ctx, route.body, bodyShape, credentials));
      const request = { deps, credentials, params, query, body, ctx, ...boundTo(deps.sql, credentials, params, query) };
      const answer = () => answerOf(route, request as unknown as AdminCall<Query, Body>);
      const { status, document, type } = await (route.scarce ? answer() : deps.calls.run(answer, who));
      ctx.status = status;
      ctx.type = type ?? "application/json";
      const isReady = typeof document === "string" || Buffer.isBuffer(document) || type !== undefined;
      ctx.body = isReady ? document : JSON.stringify(document);
    },
  });
}

/** What of a request follows from the rest of it. */
function boundTo(sql: Sql, by: AdminCredentials, params: Readonly<Record<string, string>>, query: object) {
  const environment = environmentOf(query);
  return {
    call: (name: AdminFunction, ...args: unknown[]) =>
      call(sql, name, ...([by, ...args] as ArgumentsOf<AdminFunction>)),
    at: environment === null ? undefined : { project: params["project"], environment },
  };
}

async function answerOf<Query extends TObject, Body extends TSchema, Operation extends string>(
  { operation, answers, answer, passes }: AdminRoute<Query, Body, Operation>,
  request: AdminCall<Query, Body>,
): Promise<AdminAnswer> {
  if (answer !== undefined) return answer(request);
  const args = (passes?.(request) ?? []) as FurtherArguments<AdminFunction>;
  const all = [request.credentials, ...args] as ArgumentsOf<AdminFunction>;
  const document = await callBytes(request.deps.sql, operation as unknown as AdminFunction, ...all);
  return { status: Number(Object.keys(answers)[0]), document };
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

/** Of operations that concern one. */
function environmentOf(query: object): string | null {
  return "env" in query ? (query.env as string) : null;
}

function readCredentials(ctx: Context, needsOrganization: boolean): AdminCredentials {
  const token = bearerToken(ctx);
  if (token === null)
    throw new ApiError(401, "INVALID_SESSION", { fix: "Send the header Authorization: Bearer <token>." });
  const credentials = { tokenHash: hashCredential(token), requestId: ctx.state["requestId"] as string };
  if (!needsOrganization) return { ...credentials, organizationId: "" };
  const organizationId = ctx.get("X-Svc-Organization");
  if (organizationId === "")
    throw new ApiError(400, "ORGANIZATION_REQUIRED", { fix: "Send the organization's ID in it." });
  if (organizationId.length > ORGANIZATION_LENGTH_MAX) throw new ApiError(404, "ORGANIZATION_NOT_FOUND");
  return { ...credentials, organizationId };
}

/** Numbers arrive as text; defaults are filled in. */
function readQuery<Query extends TObject>(ctx: Context, query: RequestShape<Query>): Static<Query> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, property] of Object.entries(query.schema.properties)) {
    if ("default" in property) values[name] = property.default;
  }
  for (const [name, value] of readQueryText(ctx)) {
    const isInteger = (query.schema.properties[name] as { type?: string } | undefined)?.type === "integer";
    values[name] = isInteger && /^\d{1,9}$/.test(value) ? Number(value) : value;
  }
  return query.check(values);
}

async function readBody<Body extends TSchema>(
  ctx: Context,
  { schema, bytesMax, depthMax = Infinity, submission }: BodyShape<Body>,
  body: RequestShape<Body>,
  { organizationId }: AdminCredentials,
): Promise<Static<Body>> {
  // Where nothing has to be said, nothing may be sent.
  if (!needsMembers(schema) && hasNoBody(ctx.req)) return body.check({});
  if (submission !== undefined) return (await submissionOf(ctx, submission, bytesMax, organizationId)) as Static<Body>;
  const text = await readJsonText(ctx, bytesMax);
  if (countJson(text, { ...PARSER_LIMITS, depthMax }).exceeded?.limit === "depthMax") {
    throw new ApiError(400, "VALIDATION_ERROR", { reason: `The body nests deeper than ${depthMax} levels.` });
  }
  const value = parseJson(text);
  refuseBadLiterals(text);
  return body.check(value);
}

/** What a few milliseconds are enough for. */
const SUBMISSION_AT_ONCE_BYTES_MAX = 32 * 1024;

/** The organization is one that the token may act in. */
async function submissionOf(
  ctx: Context,
  kind: SubmissionKind,
  bytesMax: number,
  organizationId: string,
): Promise<unknown> {
  const body = await readJsonBody(ctx, bytesMax, SUBMISSION_AT_ONCE_BYTES_MAX);
  if (typeof body !== "string")
    return largeBodies(ctx).run(organizationId, "readSubmission", body, (pieces) => ({ kind, pieces }));
  return readSubmission({ kind, pieces: [new TextEncoder().encode(body)] });
}
