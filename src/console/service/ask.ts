import { Readable } from "node:stream";
import type { Context } from "koa";
import type { AdminCredentials, EnvironmentRef } from "../../db/api/access.js";
import { toApiError } from "../../http/errors.js";
import { addToLogLine } from "../../http/middleware/request-log.js";
import type { OperationRoute } from "../../http/admin/route.js";
import type { ApiQuery, QuestionParams, ApiMutation } from "../source.js";

/** The endpoints of the administrative API; paths of a project are relative to it: `GET customers/:customerId`, `GET /organization/usage`. */
export type Endpoints = ReadonlyMap<string, OperationRoute>;

const BELOW = "/projects/:project/";

export function endpointsOf(operations: readonly OperationRoute[]): Endpoints {
  const nameOf = (path: string) => (path.startsWith(BELOW) ? path.slice(BELOW.length) : path);
  return new Map(operations.map((route) => [`${route.method} ${nameOf(route.path)}`, route]));
}

interface Asking {
  ctx: Context;
  credentials: AdminCredentials;
  at: EnvironmentRef;
}

/** Calls endpoints of the administrative API as the user who is signed in, with the same permissions and limits. */
export function serviceQuery(endpoints: Endpoints, asking: Asking): ApiQuery {
  return async (question, of = {}) => (await request(endpoints, asking, `GET ${question}`, of)) as never;
}

/** As `serviceQuery`, for changes. */
export function serviceMutation(endpoints: Endpoints, asking: Asking): ApiMutation {
  return (endpoint, of, body = {}) => request(endpoints, asking, endpoint, of, body);
}

async function request(
  endpoints: Endpoints,
  { ctx, credentials, at }: Asking,
  name: string,
  of: QuestionParams,
  body?: object,
): Promise<unknown> {
  const endpoint = endpoints.get(name)!;
  const isBelow = endpoint.path.startsWith(BELOW);
  const given = Object.entries(of).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const inPath = new Set([...name.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter));
  const { query: shape } = endpoint.declaration!;
  const asked = {
    ctx,
    credentials,
    // Only those of the path: they are the arguments of the endpoint's function.
    params: {
      ...(isBelow && { project: at.project }),
      ...Object.fromEntries(given.filter(([parameter]) => inPath.has(parameter))),
    },
    query: new Map([
      ...("env" in (shape?.properties ?? {}) ? [["env", at.environment] as const] : []),
      ...given.filter(([parameter]) => !inPath.has(parameter)),
    ]),
    ...(body && { body }),
  };
  const answer = await endpoint.ask(asked).catch((error: unknown) => {
    const failure = toApiError(error);
    // Logged here, because the page may do without the answer.
    if (failure.status >= 500) addToLogLine(ctx, { failure });
    throw failure;
  });
  if (answer instanceof Readable) throw new Error(`${name} answers a stream`);
  const isText = typeof answer === "string" || Buffer.isBuffer(answer);
  return isText ? JSON.parse(answer.toString()) : answer;
}
