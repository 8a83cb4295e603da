import Type from "typebox";
import * as calls from "../../db/api/config.js";
import { environmentQuery, KIB, listQuery, MIB, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import {
  activated,
  activationList,
  activationOptions,
  deployed,
  versionDiff,
  versionList,
  versionWithSnapshot,
} from "./schemas-config.js";
import { newVersion, storable } from "./submitted-snapshot.js";

/** The same for the database, which calls no version 0. */
function readActivationOptions({
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
export const promoteConfigRoute = adminRoute({
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
export const rollbackConfigRoute = adminRoute({
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
export const listActivationsRoute = adminRoute({
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

/** Deploys a snapshot as the next version of the project; 200 instead of 201 where it is what is active already. */
export const deployConfigRoute = adminRoute({
  operation: "deploy_config",
  method: "POST",
  path: "/projects/:project/config-versions",
  summary: "Deploy a snapshot as the next version of the project",
  query: environmentQuery,
  body: { schema: newVersion, bytesMax: 8 * MIB, submission: "version" },
  answers: { 200: deployed, 201: deployed },
  refusals: {
    409: ["VERSION_CONFLICT", "CONFIG_WARNINGS"],
    422: ["CONFIG_INVALID", "STATE_TOO_LARGE"],
    429: ["QUOTA_EXCEEDED"],
  },
  answer: async ({ deps, credentials, params, query, body }) => {
    const place = placeIn(params, query.env);
    const { environment } = place;
    const document = await calls.deployConfig(deps.sql, credentials, place, {
      ...(await storable(deps.sql, credentials, { operation: "deploy_config", environment }, body.snapshot)),
      provenance: body.provenance ?? null,
      ...readActivationOptions(body),
    });
    const { created } = JSON.parse(document) as { created: boolean };
    return { status: created ? 201 : 200, document };
  },
});

/** The versions of a project, newest first. */
export const listConfigVersionsRoute = adminRoute({
  operation: "list_config_versions",
  method: "GET",
  path: "/projects/:project/config-versions",
  summary: "The versions of a project, newest first",
  query: listQuery,
  answers: { 200: versionList },
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => ({
    status: 200,
    document: await calls.listConfigVersions(deps.sql, credentials, placeIn(params, env), page),
  }),
});

/** One version with its snapshot; `latest` is the newest. */
export const getConfigVersionRoute = adminRoute({
  operation: "get_config_version",
  method: "GET",
  path: "/projects/:project/config-versions/:version",
  summary: "A version with its snapshot; `latest` is the newest",
  answers: { 200: versionWithSnapshot },
  refusals: { 404: ["VERSION_NOT_FOUND"] },
  answer: async ({ deps, credentials, params }) => ({
    status: 200,
    document: await calls.getConfigVersion(deps.sql, credentials, params["project"]!, params["version"]!),
  }),
});

const versionName = Type.Optional(
  Type.String({ pattern: "^(latest|v[1-9][0-9]{0,8})$", description: "must be a version such as v3, or latest" }),
);

/** What is different in `to`, unless given the newest version, from `from`, unless given the one before it. */
export const diffConfigVersionsRoute = adminRoute({
  operation: "diff_config_versions",
  method: "GET",
  path: "/projects/:project/config-diff",
  summary: "What is different between two versions, in the author's terms",
  query: Type.Object({ from: versionName, to: versionName }, { additionalProperties: false }),
  answers: { 200: versionDiff },
  refusals: { 404: ["VERSION_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query }) => {
    const document = await calls.diffConfigVersions(deps.sql, credentials, params["project"]!, query);
    return { status: 200, document: await deps.work.thread.run("compareVersions", document) };
  },
});
