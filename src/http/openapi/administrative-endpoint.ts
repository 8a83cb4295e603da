import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TObject, TSchema } from "typebox";
import { PROJECT_ROOT } from "../../db/migrate/files.js";
import { csvColumns } from "../csv.js";
import { hasRequiredMembers } from "../request/shapes.js";
import { type Description, type Endpoint, type JsonSchema, REQUEST_ID, type RequestParameter } from "./endpoint.js";
import { ANY_SERVED, ANY_WITH_BODY, mergeRefusals, type Refusals } from "./refusals.js";

/** The declaration of an administrative route: its permission, its schemas, and its part of the OpenAPI document. */
export interface Declaration {
  /** Its row in `iam.operations()`, which defines the required role and plan. */
  operation: string;
  /** Its name in the OpenAPI document; by default that of the operation, which only one of several routes can use. */
  operationId?: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** What it does, in one line. */
  summary: string;
  /** False if it concerns no organization: the header is not required, and `credentials.organizationId` is empty. */
  organization?: false;
  query?: TObject;
  /** Headers that it reads in addition to those of every request. */
  headers?: Readonly<Record<string, TSchema>>;
  body?: { schema: TSchema; bytesMax: number };
  /** The media type of successful answers; JSON by default. */
  type?: string;
  /** The exact schemas of successful answers by status. */
  answers: Readonly<Record<number, TSchema>>;
  /** Error codes by status, in addition to those of every route and those of its path parameters. */
  refusals?: Refusals;
}

/** The tags in the order of the document; `paths` matches the administrative paths of a tag. */
const TAGS: readonly (readonly [name: string, description: string, paths?: RegExp])[] = [
  ["Ingestion", "What backends send: events and traits."],
  ["Sign-in", "How programs sign people in: OAuth's device authorization."],
  ["Account", "The signed-in user and their organizations.", /^\/(whoami|organizations)$/],
  ["Organization", "Members, invitations, tokens and audit log of an organization.", /^\/organization(\/|$)/],
  ["Projects", "Projects and their environments.", /^\/projects(\/:project(\/(overview|population|trends))?)?$/],
  ["API keys", "Keys for ingestion; each belongs to one environment.", /\/keys\b/],
  [
    "Configuration versions",
    "Immutable versions of the model, and which version is active in each environment.",
    /\/(config-versions\b|config-(checks|diff)$|activations$)/,
  ],
  [
    "Recomputes",
    "Replays of customers' histories: recomputes, dry runs, previews of models that are not deployed, and backtests.",
    /\/(recomputes|previews|backtests)\b/,
  ],
  [
    "Customers",
    "Customers, their traits and what is derived about them.",
    /\/(customers|due-customers|traits|transitions)\b/,
  ],
  ["Events", "Accepted events as a list and as a stream, and the quarantine.", /\/(events|quarantine)\b/],
  ["Rules", "The log of rule executions.", /\/rule-executions(?:\/counts)?$/],
  ["Segments", "Segments and their members.", /\/segments\b/],
  ["Journeys", "Progress of all customers in journeys.", /^\/projects\/:project\/journeys\b/],
  ["Signals", "The signals that are currently raised.", /\/signals$/],
  ["Diagnostics", "Problems of configuration or data.", /\/(diagnostics|schema-violations)$/],
  ["Webhooks", "Emissions of evaluation, the webhooks that receive them, and deliveries.", /\/(webhooks|emissions)\b/],
  ["AI", "Texts that a language model writes from facts.", /\/ai\//],
  ["Service", "Probes and metrics for infrastructure, and this document."],
];

/** The tags as OpenAPI writes them. */
export const tags = TAGS.map(([name, description]) => ({ name, description }));

function tagOf(path: string): string {
  const tag = TAGS.find(([, , paths]) => paths?.test(path));
  if (tag === undefined) throw new Error(`${path} belongs to no tag of the document`);
  return tag[0];
}

/** Refusals of every administrative request, and of every one that concerns an organization. */
const ANY_ADMINISTRATIVE: Refusals = { 401: ["INVALID_SESSION"] };
const ANY_OF_ORGANIZATION: Refusals = { 400: ["ORGANIZATION_REQUIRED"], 404: ["ORGANIZATION_NOT_FOUND"] };

const DONE: Readonly<Record<string, string>> = { 201: "Created.", 202: "Accepted; it will be done." };

/** Methods of the changes that a plan limits per minute; deletions are not refused. */
const MAY_BE_COUNTED = ["POST", "PATCH"];

/** A row of iam.operations(): what an operation of the administrative API requires. */
export interface PermissionRow {
  operation: string;
  /** The least role that may do it in test and in live; both are the same if it concerns no environment. */
  roleTest: string;
  roleLive: string;
  /** What the organization's plan must include. */
  entitlement: string | null;
}

const FILE = "sql/functions/access/operations.sql";
const ROW = /^ +\('(\w+)', '(\w+)', '(\w+)', (?:null|'(\w+)')\),?$/;

/** The rows of iam.operations(), read from its SQL file, so that no second table can contradict it. */
export function readPermissions(): PermissionRow[] {
  const lines = readFileSync(join(PROJECT_ROOT, FILE), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, operation, roleTest, roleLive, entitlement] = ROW.exec(line) ?? [];
    if (operation === undefined || roleTest === undefined || roleLive === undefined) return [];
    return [{ operation, roleTest, roleLive, entitlement: entitlement ?? null }];
  });
}

/** The rows by operation; read at first use. */
let operations: ReadonlyMap<string, PermissionRow> | undefined;

function permissionOf({ operation, method, path }: Declaration): PermissionRow {
  operations ??= new Map(readPermissions().map((row) => [row.operation, row]));
  const row = operations.get(operation);
  if (row === undefined)
    throw new Error(`the operation ${operation} of ${method} ${path} has no row in iam.operations()`);
  return row;
}

/** Describes the endpoint of a route. */
export function administrativeEndpoint(to: Description, route: Declaration): Endpoint {
  const { operation, operationId, path, summary, organization, query, headers, body, type, answers } = route;
  const { parameters } = pathParameters(path);
  const fromQuery = query ? namedParameters("query", query, to) : [];
  const fromHeaders = namedParameters("header", { properties: headers ?? {} }, to);
  const described = Object.entries(answers).map(
    ([status, schema]) =>
      [status, { description: DONE[status] ?? "Done.", schema, type, isList: csvColumns(schema) !== null }] as const,
  );
  return to.endpoint({
    method: route.method.toLowerCase() as "get",
    path: path.replace(/:(\w+)/g, "{$1}"),
    operationId: operationId ?? operation.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    description: permission(permissionOf(route)),
    tag: tagOf(path),
    security: organization === false ? ["session"] : ["session", "organization"],
    parameters: [REQUEST_ID, ...parameters, ...fromQuery, ...fromHeaders],
    body: body && { schema: body.schema, required: hasRequiredMembers(body.schema) },
    answers: Object.fromEntries(described),
    refusals: refusalsOf(route),
  });
}

/** All refusals that a route may answer. */
export function refusalsOf(route: Declaration): Refusals {
  const { roleTest, roleLive, entitlement } = permissionOf(route);
  return mergeRefusals(
    route.body ? ANY_WITH_BODY : ANY_SERVED,
    ANY_ADMINISTRATIVE,
    route.organization === false ? {} : ANY_OF_ORGANIZATION,
    route.organization !== false && MAY_BE_COUNTED.includes(route.method) ? { 429: ["QUOTA_EXCEEDED"] } : {},
    entitlement === null ? {} : { 402: ["PLAN_REQUIRED"] },
    roleTest === LEAST && roleLive === LEAST ? {} : { 403: ["FORBIDDEN"] },
    ...pathParameters(route.path).codes.map((code) => ({ 404: [code] })),
    route.refusals ?? {},
  );
}

const LEAST = "viewer";

/** A sentence about the required role and plan. */
function permission({ roleTest, roleLive, entitlement }: PermissionRow): string {
  const role = roleTest === roleLive ? `**${roleTest}**` : `**${roleTest}** in test and **${roleLive}** in live`;
  const plan = entitlement === null ? "" : ` The organization's plan must include ${entitlement.replaceAll("_", " ")}.`;
  return `Least role: ${role}.${plan}`;
}

/** Each path parameter: its description, an example, and the code of the refusal if the thing that it names does not exist. */
const PATH_PARAMETERS: Readonly<Record<string, readonly [description: string, example: string, code: string]>> = {
  project: ["Slug of the project.", "saas", "PROJECT_NOT_FOUND"],
  customerId: ["Id of the customer in the caller's system.", "globex", "CUSTOMER_NOT_FOUND"],
  journeyId: ["Id of the journey.", "onboarding", "JOURNEY_NOT_FOUND"],
  segment: ["Id of the segment.", "power_users", "SEGMENT_NOT_FOUND"],
  keyId: ["Id of the key (not the key itself).", "key_5f0c2a9e7b1d4c3a5f0c2a9e", "KEY_NOT_FOUND"],
  version: ["A version; operations that only read also accept `latest`.", "v3", "VERSION_NOT_FOUND"],
  userId: ["Id of the user.", "usr_5f0c2a9e7b1d4c3a5f0c2a9e", "MEMBER_NOT_FOUND"],
  invitationId: ["Id of the invitation.", "inv_5f0c2a9e7b1d4c3a5f0c2a9e", "INVITATION_NOT_FOUND"],
  tokenId: ["Id of the token (not the token itself).", "tok_5f0c2a9e7b1d4c3a5f0c2a9e", "TOKEN_NOT_FOUND"],
  recompute: ["Id of the recompute or dry run.", "rec_5f0c2a9e7b1d4c3a5f0c", "RECOMPUTE_NOT_FOUND"],
  preview: ["Id of the preview.", "prv_5f0c2a9e7b1d4c3a5f0c", "PREVIEW_NOT_FOUND"],
  backtest: ["Id of the backtest.", "bkt_5f0c2a9e7b1d4c3a5f0c", "BACKTEST_NOT_FOUND"],
  webhook: ["Id of the webhook.", "whk_5f0c2a9e7b1d4c3a5f0c", "WEBHOOK_NOT_FOUND"],
  delivery: ["Id of the delivery, which is the id of its emission.", "emi_0000000000000400", "DELIVERY_NOT_FOUND"],
  event: ["Id of the event.", "evt_0000000000000400", "EVENT_NOT_FOUND"],
  emission: ["Id of the emission.", "emi_0000000000000400", "EMISSION_NOT_FOUND"],
};

/** The parameters of a path as the router writes it, and the codes of the refusals if what they name does not exist. */
function pathParameters(path: string): { parameters: RequestParameter[]; codes: string[] } {
  const known = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const entry = PATH_PARAMETERS[name];
    if (entry === undefined) throw new Error(`the path parameter ${name} of ${path} has no description`);
    const [description, example, code] = entry;
    const schema = { type: "string", examples: [example] };
    return { code, parameter: { name, in: "path" as const, required: true, description, schema } };
  });
  return { parameters: known.map(({ parameter }) => parameter), codes: known.map(({ code }) => code) };
}

/** The parameters that the schema of a query or of headers describes; those with a default are optional. */
function namedParameters(
  place: "query" | "header",
  { properties, required = [] }: { properties: Readonly<Record<string, TSchema>>; required?: readonly string[] },
  to: Description,
): RequestParameter[] {
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = to.schema(property) as JsonSchema & { description?: string };
    return { name, in: place, required: required.includes(name) && !("default" in schema), description, schema };
  });
}
