import type { TObject, TSchema } from "typebox";
import { readOperations, type PermissionRow } from "../../db/api/operations.js";
import {
  headerParameters,
  pathParameters,
  pathTemplate,
  queryParameters,
  REQUEST_ID,
  type Schemas,
} from "./parameters.js";
import { ANY_SERVED, ANY_WITH_BODY, headers, merge, type RefusalResponses, type Refusals } from "./refusals.js";
import { needsMembers } from "../request/shapes.js";
import { tagOf } from "./tags.js";
import type { Endpoint, Method, Response } from "./types.js";

/** What an administrative route declares of itself. */
export interface Declaration {
  /** Its row in `iam.operations()`, which says who may do it. */
  operation: string;
  /** Its name in the OpenAPI document, where another route does the same operation; that of the operation unless given. */
  operationId?: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** What it does, in one line. */
  summary: string;
  /** False where it concerns no organization: the header is not asked for, and `credentials.organizationId` is empty. */
  organization?: false;
  query?: TObject;
  /** Headers that it reads, besides those of every request. */
  headers?: Readonly<Record<string, TSchema>>;
  body?: { schema: TSchema; bytesMax: number };
  /** The media type of successful answers; JSON unless given. */
  type?: string;
  /** Successful answers by status, exactly. */
  answers: Readonly<Record<number, TSchema>>;
  /** Codes of refusals by status, besides those that every route or every route of a project may answer. */
  refusals?: Refusals;
}

/** What can happen to any administrative request, and to any that concerns an organization. */
const ANY_ADMINISTRATIVE: Refusals = { 401: ["INVALID_SESSION"] };
const ANY_OF_ORGANIZATION: Refusals = { 400: ["ORGANIZATION_REQUIRED"], 404: ["ORGANIZATION_NOT_FOUND"] };

const DONE: Readonly<Record<number, string>> = {
  200: "Done.",
  201: "Created.",
  202: "Taken; it will be done.",
};

/** Of the changes that a plan counts by the minute; those that take away are not counted. */
const MAY_BE_COUNTED = ["POST", "PATCH"];

/** Makes the endpoints of the document. */
export class AdministrativeEndpoints {
  readonly #operations = new Map(readOperations().map((row) => [row.operation, row]));

  constructor(
    private readonly schemas: Schemas,
    private readonly refusals: RefusalResponses,
  ) {}

  of(route: Declaration): Endpoint {
    const { body, query } = route;
    const json = (schema: TSchema) => ({ "application/json": { schema: this.schemas.add(schema) } });
    const read = headerParameters(route.headers ?? {}, this.schemas);
    const queried = query ? queryParameters(query, this.schemas) : [];
    return {
      method: route.method.toLowerCase() as Method,
      path: pathTemplate(route.path),
      operation: {
        operationId: route.operationId ?? camelCase(route.operation),
        summary: route.summary,
        description: permission(this.#row(route)),
        tags: [tagOf(route.path)],
        security: [route.organization === false ? { session: [] } : { session: [], organization: [] }],
        parameters: [REQUEST_ID, ...pathParameters(route.path), ...queried, ...read],
        ...(body && { requestBody: { required: needsMembers(body.schema), content: json(body.schema) } }),
        responses: { ...this.#successes(route), ...this.refusals.of(this.refusalsOf(route)) },
      },
    };
  }

  /** All refusals that a route may answer. */
  refusalsOf(route: Declaration): Refusals {
    const { roleTest, roleLive, entitlement } = this.#row(route);
    return merge(
      route.body ? ANY_WITH_BODY : ANY_SERVED,
      ANY_ADMINISTRATIVE,
      route.organization === false ? {} : ANY_OF_ORGANIZATION,
      route.organization !== false && MAY_BE_COUNTED.includes(route.method) ? { 429: ["QUOTA_EXCEEDED"] } : {},
      entitlement === null ? {} : { 402: ["PLAN_REQUIRED"] },
      roleTest === LEAST && roleLive === LEAST ? {} : { 403: ["FORBIDDEN"] },
      route.path.includes("/:project") ? { 404: ["PROJECT_NOT_FOUND"] } : {},
      route.refusals ?? {},
    );
  }

  #row({ operation, method, path }: Declaration): PermissionRow {
    const row = this.#operations.get(operation);
    if (row === undefined)
      throw new Error(`the operation ${operation} of ${method} ${path} has no row in iam.operations()`);
    return row;
  }

  #successes({ answers, type = "application/json" }: Declaration): Record<string, Response> {
    return Object.fromEntries(
      Object.entries(answers).map(([status, schema]) => [
        status,
        {
          description: DONE[Number(status)] ?? "Done.",
          headers: headers("X-Request-ID"),
          content: { [type]: { schema: this.schemas.add(schema) } },
        },
      ]),
    );
  }
}

const LEAST = "viewer";

/** Who may do it, in words. */
function permission({ roleTest, roleLive, entitlement }: PermissionRow): string {
  const role = roleTest === roleLive ? `**${roleTest}**` : `**${roleTest}** in test and **${roleLive}** in live`;
  const plan = entitlement === null ? "" : ` The organization's plan must include ${entitlement.replaceAll("_", " ")}.`;
  return `Least role: ${role}.${plan}`;
}

/** `deploy_config` as `deployConfig`. */
function camelCase(operation: string): string {
  return operation.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
