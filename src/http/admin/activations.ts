import Type from "typebox";
import * as calls from "../../db/calls-versions.js";
import { environmentQuery, KIB, listQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { activated, activationList, activationOptions } from "./schemas-config.js";

/** The same for the database, which calls no version 0. */
export function readActivationOptions({
  expected,
  force = false,
}: {
  expected?: string | null | undefined;
  force?: boolean | undefined;
}): calls.ActivationOptions {
  if (expected === undefined) return { expected: null, force };
  return { expected: expected === null ? 0 : Number(expected.slice(1)), force };
}

const activation = { schema: Type.Object(activationOptions, { additionalProperties: false }), bytesMax: KIB };
const refusals = { 404: ["VERSION_NOT_FOUND"], 409: ["VERSION_CONFLICT", "CONFIG_WARNINGS"] };

/** Makes a version that was active in test the active one of live. */
export const promoteConfig = adminRoute({
  operation: "promote_config",
  method: "POST",
  path: "/projects/:project/config-versions/:version/promote",
  summary: "Make a version that was active in test the active one of live",
  body: activation,
  answers: { 200: activated },
  refusals,
  answer: async ({ deps, credentials, params, body }) => {
    const options = readActivationOptions(body);
    const [project, version] = [params["project"]!, params["version"]!];
    return { status: 200, document: await calls.promoteConfig(deps.sql, credentials, project, version, options) };
  },
});

/** Makes a version active again that was active in the environment before. */
export const rollbackConfig = adminRoute({
  operation: "rollback_config",
  method: "POST",
  path: "/projects/:project/config-versions/:version/rollback",
  summary: "Make a version active again that was active in the environment before",
  query: environmentQuery,
  body: activation,
  answers: { 200: activated },
  refusals,
  answer: async ({ deps, credentials, params, query, body }) => {
    const options = readActivationOptions(body);
    const place = placeIn(params, query.env);
    return {
      status: 200,
      document: await calls.rollbackConfig(deps.sql, credentials, place, params["version"]!, options),
    };
  },
});

/** Which version became active in an environment when and by whom. */
export const listActivations = adminRoute({
  operation: "list_activations",
  method: "GET",
  path: "/projects/:project/activations",
  summary: "Which version became active in an environment, the newest first",
  query: listQuery,
  answers: { 200: activationList },
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = placeIn(params, env);
    return { status: 200, document: await calls.listActivations(deps.sql, credentials, place, page) };
  },
});
