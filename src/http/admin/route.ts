import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Context } from "koa";
import type { Sql } from "postgres";
import type { Static, TObject, TSchema } from "typebox";
import type { AdminCredentials, EnvironmentRef } from "../../db/api/access.js";
import { call, callBytes, type AnswerOf, type ArgumentsOf, type FunctionName } from "../../db/api/call.js";
import { codeOf } from "../../db/sqlstate.js";
import type { Mailer } from "../../mail/mailer.js";
import { answerCsv, CSV, csvColumns, listCsv } from "../csv.js";
import { ApiError } from "../errors.js";
import { addToLogLine } from "../middleware/request-log.js";
import type { Declaration } from "../openapi/administrative-endpoint.js";
import { type JsonBody, readJsonBody, readJsonText } from "../request/body.js";
import { bearerToken, hashCredential, isSessionText } from "../request/credentials.js";
import { countJson } from "../request/json-limits.js";
import { largeBodies } from "../request/large-bodies.js";
import { PARSER_LIMITS, parseJson } from "../request/parse-json.js";
import { hasRequiredMembers, integerOf, shape, type RequestShape } from "../request/shapes.js";
import type { Route } from "../route.js";
import type { Semaphore } from "../semaphore.js";
import type { AiQuestions, CustomerWork, WebhookTests } from "./slow-work.js";
import { holdAnswer } from "./held-answers.js";
import { emptyObject, environmentQuery } from "./parameters.js";
import { readSubmission, refuseBadLiterals, type SubmissionKind } from "./submitted-snapshot.js";

export interface AdminDeps {
  sql: Sql;
  /** The result of `sealingKey`; encrypts webhook secrets. */
  sealingKey: Buffer;
  /** SVC_WEBHOOK_ALLOW_PRIVATE. */
  allowPrivateWebhooks: boolean;
  /** The public address of the service, without a slash at the end. */
  publicUrl: () => string;
  /** Null if no mail is set up. */
  mailer: Mailer | null;
  /** Connections and places for work that takes longer than a look-up. */
  work: CustomerWork;
  webhookTests: WebhookTests;
  /** Null if no language model is set up. */
  ai: AiQuestions | null;
}

/** The dependencies that each route is bound to. */
export interface BoundDeps extends AdminDeps {
  /** One place for each connection of `sql`, so that waiting calls are bounded in number and time; neither a token nor an organization gets all. */
  calls: Semaphore;
  /** Places for requests that read a whole environment; they leave the other places of `calls` to short ones. */
  scans: Semaphore;
}

/** A request with a token, an organization, and a query and body of the declared shape. */
export interface AdminCall<Query extends TSchema, Body extends TSchema> {
  deps: BoundDeps;
  credentials: AdminCredentials;
  /** Calls a function of the database with the credentials. */
  call: <Name extends AdminFunction>(name: Name, ...args: FurtherArguments<Name>) => Promise<AnswerOf<Name>>;
  /** The environment that the path (`/projects/:project`) and `?env=` name; undefined if the query has no `env`. */
  at: Static<Query> extends { env: EnvironmentRef["environment"] } ? EnvironmentRef : undefined;
  params: Readonly<Record<string, string>>;
  query: Static<Query>;
  body: Static<Body>;
  /** The context of the request, for answers that need more than this. */
  ctx: Context;
}

/** An answer: JSON text from the database, as string or UTF-8, a value to render as JSON, or a stream with the route's media type. */
export type AdminAnswer = string | Buffer | object | Readable;

/** A request for an operation, from its endpoint or from a page. */
export interface OperationRequest {
  ctx: Context;
  credentials: AdminCredentials;
  /** The decoded parameters of the path. */
  params: Readonly<Record<string, string>>;
  /** The unparsed parameters of the query. */
  query: ReadonlyMap<string, string>;
  /** By default the body of the request is read. */
  body?: unknown;
}

/** An endpoint whose operation pages can call, too. */
export interface OperationRoute extends Route {
  ask(request: OperationRequest): Promise<AdminAnswer>;
}

interface BodyShape<Body extends TSchema> {
  schema: Body;
  bytesMax: number;
  /** The deepest nesting, if the schema accepts any value. */
  depthMax?: number;
  /** Read the body with `readSubmission`, because reading a snapshot takes long. */
  submission?: SubmissionKind;
}

/** The database functions whose first argument is the credentials. */
type AdminFunction = {
  [Name in FunctionName]: ArgumentsOf<Name> extends readonly [AdminCredentials, ...infer _] ? Name : never;
}[FunctionName];

/** The further arguments of such a function. */
type FurtherArguments<Name> = Name extends AdminFunction
  ? ArgumentsOf<Name> extends readonly [unknown, ...infer Further]
    ? Further
    : never
  : never;

/** Method and path, for example `GET /projects/:project/keys`. */
type RouteText = `${Declaration["method"]} /${string}`;

/** The default query: routes below a project take an environment. */
type UsualQuery<Text extends RouteText> = Text extends `${string} /projects/:project/${string}`
  ? typeof environmentQuery
  : typeof emptyObject;

interface AdminRoute<Query extends TObject, Body extends TSchema, Operation extends string> extends Omit<
  Declaration,
  "operation" | "method" | "path"
> {
  /** By default `?env=` below a project, and no parameters elsewhere. */
  query?: Query;
  body?: BodyShape<Body>;
  /**
   * Whether requests need a scarce resource. Like requests with a body they are authorized first, so that unauthorized ones do not wait for it,
   * and they run without a place of `calls`, because the resource has places of its own. A function decides for each request.
   */
  scarce?: true | ((query: Static<Query>) => boolean);
  /**
   * Whether requests read most of what an environment has, so that only few run at once, and fewer of one organization. Like scarce ones they
   * are authorized first; they take a place of `calls` as well.
   */
  scan?: true;
  /** Whether a list with this query is available as comma-separated values; by default every list is. */
  isTable?: (query: ReadonlyMap<string, string>) => boolean;
  /** Makes the answer. Its status is the first of `answers`, unless this function sets another one. */
  answer?: (call: AdminCall<Query, Body>) => Promise<AdminAnswer>;
  /**
   * Instead of `answer`: the arguments for the database function with the operation's name, whose document is the answer. By default they are the
   * environment, the parameters of the path, and the page of a list.
   */
  passes?: (call: AdminCall<Query, Body>) => FurtherArguments<Operation>;
}

/** Makes the route of an endpoint, which reads and checks credentials, query and body, calls `answer` and renders the result. */
export function adminRoute<
  const Operation extends string,
  const Text extends RouteText,
  const Query extends TObject = UsualQuery<Text>,
  const Body extends TSchema = TSchema,
>(operation: Operation, text: Text, route: AdminRoute<Query, Body, Operation>): (deps: BoundDeps) => OperationRoute {
  const [method, path] = text.split(" ") as [Declaration["method"], string];
  const { query: schema = path.startsWith("/projects/:project/") ? environmentQuery : emptyObject } = route;
  const queryShape = shape(schema as Query);
  const bodyShape = route.body && shape(route.body.schema);
  const columns = csvColumns(route.answers[200]);
  return (deps) => {
    const inTurn = <T>(credentials: AdminCredentials, work: () => Promise<T>) => {
      // Any request can name an organization, so another one's tokens have turns of their own; the database refuses them at once.
      const owner = `${credentials.organizationId} ${credentials.tokenHash.toString("base64")}`;
      return deps.calls.run(work, owner, credentials.organizationId === "" ? owner : credentials.organizationId);
    };
    const authorize = async (ctx: Context, credentials: AdminCredentials, environment: string | null) => {
      await inTurn(credentials, () => call(deps.sql, "authorize_request", credentials, operation, environment));
      ctx.state["isAuthorized"] = true;
    };
    const ask = async ({ ctx, credentials, params, query: texts, body: given }: OperationRequest) => {
      const query = readQuery(texts, queryShape);
      const environment = "env" in query ? (query.env as string) : null;
      const isScarce = typeof route.scarce === "function" ? route.scarce(query) : route.scarce === true;
      if (route.body || isScarce || route.scan) await authorize(ctx, credentials, environment);
      const read = (body: BodyShape<Body>, shape: RequestShape<Body>) => {
        if (given === undefined) return readBody(ctx, body, shape, credentials);
        if (body.submission === undefined) return shape.check(given);
        return readSubmitted<Body>(ctx, body.submission, JSON.stringify(given), credentials);
      };
      const body = route.body && bodyShape && (await read(route.body, bodyShape));
      const bound = (name: AdminFunction, ...args: unknown[]) =>
        call(deps.sql, name, ...([credentials, ...args] as ArgumentsOf<AdminFunction>));
      const at = environment === null ? undefined : { project: params["project"], environment };
      const request = { deps, credentials, call: bound, at, params, query, body, ctx };
      const answer = () => answerOf(operation, route, request as unknown as AdminCall<Query, Body>);
      if (isScarce) return answer();
      const run = () => inTurn(credentials, answer);
      return route.scan ? deps.scans.run(run, credentials.organizationId) : run();
    };
    const concernsOrganization = route.organization !== false;
    const respond = async (ctx: Context, credentials: AdminCredentials) => {
      if (concernsOrganization && credentials.organizationId === "") throw new ApiError(400, "ORGANIZATION_REQUIRED");
      ctx.status = Number(Object.keys(route.answers)[0]);
      const request = { ctx, credentials, params: readPathText(ctx, path), query: readQueryText(ctx) };
      const isTable = columns !== null && (route.isTable?.(request.query) ?? true);
      if (isTable && ctx.accepts("json", CSV) === CSV) {
        const read = (query: ReadonlyMap<string, string>) => ask({ ...request, query });
        return answerCsv(ctx, listCsv(columns, request.query, holdingPages(ctx, credentials, read)));
      }
      const document = await ask(request);
      ctx.type = route.type ?? "application/json";
      const isReady = typeof document === "string" || Buffer.isBuffer(document) || document instanceof Readable;
      const body = isReady ? document : JSON.stringify(document);
      // The answer to a change must arrive: it says that the change was made.
      if (method === "GET" && !(body instanceof Readable)) holdAnswer(ctx, credentials, body.length);
      ctx.body = body;
    };
    return {
      method,
      path,
      declaration: { ...route, operation, query: schema, method, path },
      ask,
      handle: async (ctx) => {
        const credentials = readCredentials(ctx, concernsOrganization);
        if (ORGANIZATION.test(credentials.organizationId))
          addToLogLine(ctx, { organization: credentials.organizationId });
        try {
          await respond(ctx, credentials);
        } catch (error) {
          // A mistake in the request's form is found first, and counts last.
          if (error instanceof ApiError && error.status === 400 && ctx.state["isAuthorized"] !== true)
            await authorize(ctx, credentials, ctx.query["env"] === "live" ? "live" : null).catch((refusal: unknown) => {
              // Without an organization nothing is allowed, and only the token can be wrong.
              if (credentials.organizationId !== "" || codeOf(refusal) === "SV001") throw refusal;
            });
          throw error;
        }
      },
    };
  };
}

/** Reads pages for an answer that holds each of them until it reads the next one. */
function holdingPages(
  ctx: Context,
  credentials: AdminCredentials,
  ask: (query: ReadonlyMap<string, string>) => Promise<AdminAnswer>,
) {
  let release = () => {};
  return async (query: ReadonlyMap<string, string>): Promise<string> => {
    const page = (await ask(query)) as string | Buffer;
    release();
    release = holdAnswer(ctx, credentials, page.length);
    return page.toString();
  };
}

async function answerOf<Query extends TObject, Body extends TSchema, Operation extends string>(
  operation: Operation,
  { answer, passes }: AdminRoute<Query, Body, Operation>,
  request: AdminCall<Query, Body>,
): Promise<AdminAnswer> {
  if (answer !== undefined) return answer(request);
  const args = passes === undefined ? usualArguments(request) : passes(request);
  const all = [request.credentials, ...(args as readonly unknown[])] as ArgumentsOf<AdminFunction>;
  return callBytes(request.deps.sql, operation as unknown as AdminFunction, ...all);
}

function usualArguments({ at, params, query }: { at: unknown; params: Record<string, string>; query: unknown }) {
  const { project: _, ...others } = params;
  const named = Object.values(at === undefined ? params : others);
  return [...(at === undefined ? [] : [at]), ...named, ...("limit" in (query as object) ? [query] : [])];
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
}

const ORGANIZATION = /^org_[0-9a-f]{1,64}$/;

/** The organization is empty if the request names none, or the operation concerns none. */
function readCredentials(ctx: Context, concernsOrganization: boolean): AdminCredentials {
  const token = bearerToken(ctx);
  // A browser's session is valid for pages only, which accept changes only from their own forms.
  if (token === null || isSessionText(token))
    throw new ApiError(401, "INVALID_SESSION", { fix: "Send the header Authorization: Bearer <token>." });
  return {
    tokenHash: hashCredential(token),
    requestId: ctx.state["requestId"] as string,
    organizationId: concernsOrganization ? ctx.get("X-Svc-Organization") : "",
  };
}

/** The parameters of the query as text, in their order. Throws VALIDATION_ERROR for one that is repeated or not valid text. */
function readQueryText(ctx: Context): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const piece of ctx.querystring.split("&")) {
    if (piece === "") continue;
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(piece.replaceAll("+", " ")) ?? [];
    const name = decode(rawName, rawName);
    if (name === "") throw new ApiError(400, "VALIDATION_ERROR", { message: "A parameter of the query has no name." });
    if (members.has(name)) {
      throw new ApiError(400, "VALIDATION_ERROR", { message: `\`${name}\` is given more than once.`, field: name });
    }
    members.set(name, decode(rawValue, name));
  }
  return members;
}

/** The parameters of a request's path, by the pattern `path`. Throws VALIDATION_ERROR for one that is not valid text. */
function readPathText(ctx: Context, path: string): Readonly<Record<string, string>> {
  const raw = ctx.path.split("/");
  const parameters = path.split("/").flatMap((part, index) => {
    if (!part.startsWith(":")) return [];
    const name = part.slice(1);
    return [[name, decode(raw[index] ?? "", name)] as const];
  });
  return Object.fromEntries(parameters);
}

function decode(raw: string, field: string): string {
  const text = decodeOrNull(raw);
  if (text === null) throw notText(field, "It is not UTF-8 in percent-encoding.");
  if (text.includes("\0")) throw notText(field, "The character U+0000 cannot be stored in text.");
  return text;
}

function decodeOrNull(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

function notText(name: string, reason: string): ApiError {
  const field = decodeOrNull(name)?.replaceAll("\0", "\\u0000") ?? name;
  return new ApiError(400, "VALIDATION_ERROR", { message: `\`${field}\` is not valid text.`, field, reason });
}

/** Converts numbers, fills in defaults, and checks the query. */
function readQuery<Query extends TObject>(
  texts: ReadonlyMap<string, string>,
  query: RequestShape<Query>,
): Static<Query> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, property] of Object.entries(query.schema.properties)) {
    if ("default" in property) values[name] = property.default;
  }
  for (const [name, value] of texts) {
    const { type }: { type?: string } = query.schema.properties[name] ?? {};
    values[name] = type === "integer" ? (integerOf(value) ?? value) : value;
  }
  return query.check(values);
}

/** Up to this size, a snapshot is read in the event loop, within a few milliseconds. */
const SUBMISSION_AT_ONCE_BYTES_MAX = 32 * 1024;

async function readBody<Body extends TSchema>(
  ctx: Context,
  { schema, bytesMax, depthMax = Infinity, submission }: BodyShape<Body>,
  body: RequestShape<Body>,
  { organizationId }: AdminCredentials,
): Promise<Static<Body>> {
  // The body can be left out if no member is required.
  if (!hasRequiredMembers(schema) && hasNoBody(ctx.req)) return body.check({});
  if (submission !== undefined) {
    const sent = await readJsonBody(ctx, bytesMax, SUBMISSION_AT_ONCE_BYTES_MAX);
    return readSubmitted(ctx, submission, sent, { organizationId });
  }
  const text = await readJsonText(ctx, bytesMax);
  if (countJson(text, { ...PARSER_LIMITS, depthMax }).exceeded?.limit === "depthMax") {
    throw new ApiError(400, "VALIDATION_ERROR", { reason: `The body is nested deeper than ${depthMax} levels.` });
  }
  const value = parseJson(text);
  refuseBadLiterals(text);
  return body.check(value);
}

/** Reads a small submission in the event loop, and others in the thread for large bodies. */
async function readSubmitted<Body extends TSchema>(
  ctx: Context,
  kind: SubmissionKind,
  sent: JsonBody,
  { organizationId }: Pick<AdminCredentials, "organizationId">,
): Promise<Static<Body>> {
  const read =
    typeof sent === "string" && sent.length <= SUBMISSION_AT_ONCE_BYTES_MAX
      ? readSubmission({ kind, pieces: [new TextEncoder().encode(sent)] })
      : // The request is already authorized, so the organization is verified.
        await largeBodies(ctx).run(organizationId, "readSubmission", sent, (pieces) => ({ kind, pieces }));
  return read as Static<Body>;
}
