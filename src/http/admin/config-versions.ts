import Type, { type Static } from "typebox";
import type { ActivationOptions } from "../../db/api/functions.js";
import { CHANGE_SUBJECTS } from "../../model/compare/change.js";
import { emptyObject, KIB, listQuery, MIB } from "./parameters.js";
import { adminRoute } from "./route.js";
import { environment, exact, instant, jsonObject, listOf, named, orNull, versionName } from "./schemas.js";
import {
  activationOptions,
  buildProvenance,
  checkedSnapshot,
  hash,
  newVersion,
  storable,
} from "./submitted-snapshot.js";

const warning = named("Warning", { code: Type.String(), message: Type.String(), path: Type.String() });

/** What may not be activated without `force`, and was. */
const warnings = Type.Array(warning, {
  description: "Data that this strands, as it was forced; empty where it strands none.",
});

export const configCheck = named("ConfigCheck", {
  warnings: Type.Array(warning, {
    description: "What a deploy of the snapshot is refused for unless it is forced; empty where it strands no data.",
  }),
});

const activeVersion = {
  version: versionName,
  hash,
  environment,
  activated: Type.Boolean({ description: "Whether this made it the active one; false where it was already." }),
  hasCustomers: Type.Boolean({
    description:
      "Whether the environment has customers; they stay as they were derived until something happens or a recompute.",
  }),
};

export const deployed = named("DeployedVersion", { ...activeVersion, created: Type.Boolean(), warnings });

export const activated = named("ActivatedVersion", { ...activeVersion, warnings });

const configVersion = {
  version: versionName,
  hash,
  author: Type.String({ description: "E-mail address of who deployed it." }),
  createdAt: instant,
  provenance: orNull(buildProvenance),
  active: Type.Array(environment, { description: "Where it is active." }),
};

export const listedVersion = named("ConfigVersion", configVersion);

export const versionWithSnapshot = named("ConfigVersionWithSnapshot", {
  ...configVersion,
  snapshot: jsonObject("The compiled model, as it was deployed."),
});

export const activation = named("Activation", {
  version: versionName,
  previousVersion: orNull(versionName, "The version that was active before; null for the first."),
  kind: Type.Enum(["deploy", "promote", "rollback"]),
  actor: Type.String({ description: "E-mail address of who did it." }),
  at: instant,
});

const value = (description: string) => Type.Unknown({ description });

const change = named("Change", {
  kind: Type.Enum(["added", "removed", "changed"]),
  subject: Type.Enum([...CHANGE_SUBJECTS]),
  id: Type.String({ description: "Of the subject.", examples: ["trial → activated"] }),
  path: Type.String({ description: "Where `after` stands in the newer snapshot, or `before` in the older one." }),
  message: Type.String({ examples: ['threshold of count of "login" within 30d: 3 → 5'] }),
  before: value("What was there; null where nothing was."),
  after: value("What is there now; null where nothing is."),
});

export const versionDiff = named("ConfigDiff", {
  from: orNull(versionName, "Null where the first version is compared with nothing."),
  to: versionName,
  changes: Type.Array(change),
});

const activationBody = exact(activationOptions);

/** The same for the database, which calls no version 0. */
function readActivationOptions({ expected, force = false }: Static<typeof activationBody>): ActivationOptions {
  if (expected === undefined) return { expected: null, force };
  return { expected: expected === null ? 0 : Number(expected.slice(1)), force };
}

const refusals = { 409: ["VERSION_CONFLICT", "CONFIG_WARNINGS"] };

const namedVersion = Type.Optional(
  Type.String({ pattern: "^(latest|v[1-9][0-9]{0,8})$", description: "must be a version such as v3, or latest" }),
);

/** The versions of a project, and which of them is active where. */
export const configRoutes = [
  // 200 instead of 201 where it is what is active already.
  adminRoute("deploy_config", "POST /projects/:project/config-versions", {
    summary: "Deploy a snapshot as the next version of the project",
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
  adminRoute("check_config", "POST /projects/:project/config-checks", {
    summary: "What data a snapshot would strand if it were deployed, without deploying it",
    body: { schema: checkedSnapshot, bytesMax: 8 * MIB, submission: "check" },
    answers: { 200: configCheck },
    refusals: { 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ deps, credentials, call, at, body }) => {
      const operation = { operation: "check_config", environment: at.environment };
      const { snapshot } = await storable(deps.sql, credentials, operation, body.snapshot);
      return call("check_config", at, snapshot);
    },
  }),
  adminRoute("list_config_versions", "GET /projects/:project/config-versions", {
    summary: "The versions of a project, newest first",
    query: listQuery,
    answers: { 200: listOf(listedVersion) },
  }),
  adminRoute("get_config_version", "GET /projects/:project/config-versions/:version", {
    summary: "A version with its snapshot; `latest` is the newest",
    query: emptyObject,
    answers: { 200: versionWithSnapshot },
  }),
  adminRoute("promote_config", "POST /projects/:project/config-versions/:version/promote", {
    summary: "Make a version that was active in test the active one of live",
    query: emptyObject,
    body: { schema: activationBody, bytesMax: KIB },
    answers: { 200: activated },
    refusals,
    passes: ({ params, body }) => [params["project"]!, params["version"]!, readActivationOptions(body)],
  }),
  adminRoute("rollback_config", "POST /projects/:project/config-versions/:version/rollback", {
    summary: "Make a version active again that was active in the environment before",
    body: { schema: activationBody, bytesMax: KIB },
    answers: { 200: activated },
    refusals,
    passes: ({ at, params, body }) => [at, params["version"]!, readActivationOptions(body)],
  }),
  // What is different in `to`, unless given the newest version, from `from`, unless given the one before it.
  adminRoute("diff_config_versions", "GET /projects/:project/config-diff", {
    summary: "What is different between two versions, in the author's terms",
    query: exact({ from: namedVersion, to: namedVersion }),
    answers: { 200: versionDiff },
    refusals: { 404: ["VERSION_NOT_FOUND"] },
    answer: async ({ deps, call, params, query }) => {
      const document = await call("diff_config_versions", params["project"]!, query.from, query.to);
      return deps.work.thread.run("compareVersions", document);
    },
  }),
  adminRoute("list_activations", "GET /projects/:project/activations", {
    summary: "Which version became active in an environment, the newest first",
    query: listQuery,
    answers: { 200: listOf(activation) },
  }),
];
