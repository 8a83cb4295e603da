import Type, { type Static } from "typebox";
import type { ActivationOptions } from "../../db/api/config.js";
import { exact, listOf } from "./schemas.js";
import { environmentQuery, KIB, listQuery, MIB } from "./parameters.js";
import { adminRoute } from "./route.js";
import {
  activated,
  activation,
  activationOptions,
  deployed,
  listedVersion,
  versionDiff,
  versionWithSnapshot,
} from "./schemas-config.js";
import { newVersion, storable } from "./submitted-snapshot.js";

const activationBody = exact(activationOptions);

/** The same for the database, which calls no version 0. */
function readActivationOptions({ expected, force = false }: Static<typeof activationBody>): ActivationOptions {
  if (expected === undefined) return { expected: null, force };
  return { expected: expected === null ? 0 : Number(expected.slice(1)), force };
}

const refusals = { 409: ["VERSION_CONFLICT", "CONFIG_WARNINGS"] };

const versionName = Type.Optional(
  Type.String({ pattern: "^(latest|v[1-9][0-9]{0,8})$", description: "must be a version such as v3, or latest" }),
);

/** The versions of a project, and which of them is active where. */
export const configRoutes = [
  // 200 instead of 201 where it is what is active already.
  adminRoute({
    operation: "deploy_config",
    route: "POST /projects/:project/config-versions",
    summary: "Deploy a snapshot as the next version of the project",
    query: environmentQuery,
    body: { schema: newVersion, bytesMax: 8 * MIB, submission: "version" },
    answers: { 200: deployed, 201: deployed },
    refusals: { ...refusals, 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ deps, credentials, call, at, body, ctx }) => {
      const operation = { operation: "deploy_config", environment: at.environment };
      const document = await call("deploy_config", at, {
        ...(await storable(deps.sql, credentials, operation, body.snapshot)),
        provenance: body.provenance ?? null,
        ...readActivationOptions(body),
      });
      const { created } = JSON.parse(document) as { created: boolean };
      ctx.status = created ? 201 : 200;
      return document;
    },
  }),
  adminRoute({
    operation: "list_config_versions",
    route: "GET /projects/:project/config-versions",
    summary: "The versions of a project, newest first",
    query: listQuery,
    answers: { 200: listOf(listedVersion) },
    passes: ({ at, query }) => [at, query],
  }),
  adminRoute({
    operation: "get_config_version",
    route: "GET /projects/:project/config-versions/:version",
    summary: "A version with its snapshot; `latest` is the newest",
    answers: { 200: versionWithSnapshot },
    passes: ({ params }) => [params["project"]!, params["version"]!],
  }),
  adminRoute({
    operation: "promote_config",
    route: "POST /projects/:project/config-versions/:version/promote",
    summary: "Make a version that was active in test the active one of live",
    body: { schema: activationBody, bytesMax: KIB },
    answers: { 200: activated },
    refusals,
    passes: ({ params, body }) => [params["project"]!, params["version"]!, readActivationOptions(body)],
  }),
  adminRoute({
    operation: "rollback_config",
    route: "POST /projects/:project/config-versions/:version/rollback",
    summary: "Make a version active again that was active in the environment before",
    query: environmentQuery,
    body: { schema: activationBody, bytesMax: KIB },
    answers: { 200: activated },
    refusals,
    passes: ({ at, params, body }) => [at, params["version"]!, readActivationOptions(body)],
  }),
  // What is different in `to`, unless given the newest version, from `from`, unless given the one before it.
  adminRoute({
    operation: "diff_config_versions",
    route: "GET /projects/:project/config-diff",
    summary: "What is different between two versions, in the author's terms",
    query: exact({ from: versionName, to: versionName }),
    answers: { 200: versionDiff },
    refusals: { 404: ["VERSION_NOT_FOUND"] },
    answer: async ({ deps, call, params, query }) => {
      const document = await call("diff_config_versions", params["project"]!, query.from, query.to);
      return deps.work.thread.run("compareVersions", document);
    },
  }),
  adminRoute({
    operation: "list_activations",
    route: "GET /projects/:project/activations",
    summary: "Which version became active in an environment, the newest first",
    query: listQuery,
    answers: { 200: listOf(activation) },
    passes: ({ at, query }) => [at, query],
  }),
];
