import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Context } from "koa";
import type { Sql } from "postgres";
import type { Static, TObject, TSchema } from "typebox";
import type { AdminCredentials, EnvironmentRef } from "../../db/api/access.js";
import { call, callBytes, type AnswerOf, type ArgumentsOf, type FunctionName } from "../../db/api/call.js";
import type { Mailer } from "../../mail/mailer.js";
import { answerCsv, CSV, csvColumns, listCsv } from "../csv.js";
import { ApiError } from "../errors.js";
import type { Declaration } from "../openapi/administrative.js";
import { type JsonBody, readJsonBody, readJsonText } from "../request/body.js";
import { bearerToken, hashCredential, isSessionText } from "../request/credentials.js";
import { countJson } from "../request/json-limits.js";
import { largeBodies } from "../request/large-bodies.js";
import { PARSER_LIMITS, parseJson } from "../request/parse-json.js";
import { needsMembers, shape, type RequestShape } from "../request/shapes.js";
import type { Route } from "../route.js";
import type { Semaphore } from "../semaphore.js";
import type { AiQuestions, CustomerWork, WebhookTests } from "./work.js";
import { emptyObject, environmentQuery } from "./parameters.js";
import { readSubmission, refuseBadLiterals, type SubmissionKind } from "./submitted-snapshot.js";

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

/** What is answered: JSON text as the database made it, also in UTF-8, a value to render, or a stream of what the route's `type` says. */
export type AdminAnswer = string | Buffer | object | Readable;

/** What is asked of an operation, by a request to its endpoint or by a page. */
export interface OperationRequest {
  ctx: Context;
  credentials: AdminCredentials;
  /** Of the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** As text. */
  query: ReadonlyMap<string, string>;
  /** That of the request is read unless given. */
  body?: unknown;
}

/** An endpoint whose operation pages may ask, too. */
export interface OperationRoute extends Route {
  ask(request: OperationRequest): Promise<AdminAnswer>;
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

/** Method and path, for example `GET /projects/:project/keys`. */
type RouteText = `${Declaration["method"]} /${string}`;

/** What is below a project concerns one of its environments. */
type UsualQuery<Text extends RouteText> = Text extends `${string} /projects/:project/${string}`
  ? typeof environmentQuery
  : typeof emptyObject;

interface AdminRoute<Query extends TObject, Body extends TSchema, Operation extends string> extends Omit<
  Declaration,
  "operation" | "method" | "path"
> {
  /** `?env=` below a project, and nothing elsewhere, unless given. */
  query?: Query;
  body?: BodyShape<Body>;
  /**
   * What it takes is scarce, so that nobody waits for it who may not have it: authorized first, as is whatever has a body. It has places of
   * its own, and waits for them in none of the others'. Of some requests only where it is a function.
   */
  scarce?: true | ((query: Static<Query>) => boolean);
  /** Whether a list that is asked for so can be comma-separated values; else it is JSON. Always unless given. */
  isTable?: (query: ReadonlyMap<string, string>) => boolean;
  /** Answered with the first of the statuses of `answers`, unless it sets another one. */
  answer?: (call: AdminCall<Query, Body>) => Promise<AdminAnswer>;
  /**
   * Instead: the function of the operation's name is called with these arguments, and its document answered. Unless given, they are the
   * environment, what the path names, and the page of a list.
   */
  passes?: (call: AdminCall<Query, Body>) => FurtherArguments<Operation>;
}

/** Makes a route of an endpoint: credentials, query and body are read and checked, then `answer` is called and its answer rendered. */
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
    const ask = async ({ ctx, credentials, params, query: texts, body: given }: OperationRequest) => {
      // Not the organization, which anybody may name.
      const who = credentials.tokenHash.toString("base64");
      const query = readQuery(texts, queryShape);
      const environment = "env" in query ? (query.env as string) : null;
      const isScarce = typeof route.scarce === "function" ? route.scarce(query) : route.scarce === true;
      if (route.body || isScarce) {
        await deps.calls.run(() => call(deps.sql, "authorize_request", credentials, operation, environment), who);
      }
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
      return isScarce ? answer() : deps.calls.run(answer, who);
    };
    return {
      method,
      path,
      declaration: { ...route, operation, query: schema, method, path },
      ask,
      handle: async (ctx) => {
        const credentials = readCredentials(ctx, route.organization !== false);
        ctx.status = Number(Object.keys(route.answers)[0]);
        const asked = { ctx, credentials, params: readPathText(ctx, path), query: readQueryText(ctx) };
        const isTable = columns !== null && (route.isTable?.(asked.query) ?? true);
        if (isTable && ctx.accepts("json", CSV) === CSV) {
          const read = async (query: ReadonlyMap<string, string>) =>
            ((await ask({ ...asked, query })) as string | Buffer).toString();
          return answerCsv(ctx, listCsv(columns, asked.query, read));
        }
        const document = await ask(asked);
        ctx.type = route.type ?? "application/json";
        const isReady = typeof document === "string" || Buffer.isBuffer(document) || document instanceof Readable;
        ctx.body = isReady ? document : JSON.stringify(document);
      },
    };
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

function readCredentials(ctx: Context, needsOrganization: boolean): AdminCredentials {
  const token = bearerToken(ctx);
  // A browser's session is for pages, which take changes only from forms of their own.
  if (token === null || isSessionText(token))
    throw new ApiError(401, "INVALID_SESSION", { fix: "Send the header Authorization: Bearer <token>." });
  const credentials = { tokenHash: hashCredential(token), requestId: ctx.state["requestId"] as string };
  if (!needsOrganization) return { ...credentials, organizationId: "" };
  const organizationId = ctx.get("X-Svc-Organization");
  if (organizationId === "") throw new ApiError(400, "ORGANIZATION_REQUIRED");
  if (organizationId.length > 200) throw new ApiError(404, "ORGANIZATION_NOT_FOUND");
  return { ...credentials, organizationId };
}

/** The members of a query as text, in the order in which they came. Throws VALIDATION_ERROR for one that is there twice or is no text. */
function readQueryText(ctx: Context): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const piece of ctx.querystring.split("&")) {
    if (piece === "") continue;
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(piece.replaceAll("+", " ")) ?? [];
    const name = decode(rawName, rawName);
    if (members.has(name)) {
      throw new ApiError(400, "VALIDATION_ERROR", { message: `\`${name}\` is given more than once.`, field: name });
    }
    members.set(name, decode(rawValue, name));
  }
  return members;
}

/** The parameters of a request's path, which a route of this `path` takes. Throws VALIDATION_ERROR for one that is no text. */
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

/** Numbers arrive as text; defaults are filled in. */
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
    values[name] = type === "integer" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  }
  return query.check(values);
}

/** What a few milliseconds are enough for. */
const SUBMISSION_AT_ONCE_BYTES_MAX = 32 * 1024;

async function readBody<Body extends TSchema>(
  ctx: Context,
  { schema, bytesMax, depthMax = Infinity, submission }: BodyShape<Body>,
  body: RequestShape<Body>,
  { organizationId }: AdminCredentials,
): Promise<Static<Body>> {
  // Where nothing has to be said, nothing may be sent.
  if (!needsMembers(schema) && hasNoBody(ctx.req)) return body.check({});
  if (submission !== undefined) {
    const sent = await readJsonBody(ctx, bytesMax, SUBMISSION_AT_ONCE_BYTES_MAX);
    return readSubmitted(ctx, submission, sent, { organizationId });
  }
  const text = await readJsonText(ctx, bytesMax);
  if (countJson(text, { ...PARSER_LIMITS, depthMax }).exceeded?.limit === "depthMax") {
    throw new ApiError(400, "VALIDATION_ERROR", { reason: `The body nests deeper than ${depthMax} levels.` });
  }
  const value = parseJson(text);
  refuseBadLiterals(text);
  return body.check(value);
}

/** A snapshot is read at once where it is small, else in the thread of large bodies. */
async function readSubmitted<Body extends TSchema>(
  ctx: Context,
  kind: SubmissionKind,
  sent: JsonBody,
  { organizationId }: Pick<AdminCredentials, "organizationId">,
): Promise<Static<Body>> {
  const read =
    typeof sent === "string" && sent.length <= SUBMISSION_AT_ONCE_BYTES_MAX
      ? readSubmission({ kind, pieces: [new TextEncoder().encode(sent)] })
      : // The organization is one that the token may act in.
        await largeBodies(ctx).run(organizationId, "readSubmission", sent, (pieces) => ({ kind, pieces }));
  return read as Static<Body>;
}
