import Type from "typebox";
import * as calls from "../../db/calls-versions.js";
import { readActivationOptions } from "./activations.js";
import { environmentQuery, listQuery, MIB, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { deployed, versionDiff, versionList, versionWithSnapshot } from "./schemas-config.js";
import { newVersion, storable } from "./submitted-snapshot.js";

/** Deploys a snapshot as the next version of the project; 200 instead of 201 where it is what is active already. */
export const deployConfig = adminRoute({
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
export const listConfigVersions = adminRoute({
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
export const getConfigVersion = adminRoute({
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
export const diffConfigVersions = adminRoute({
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
