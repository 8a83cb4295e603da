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

/** The warnings that `force` overrode. */
const warnings = Type.Array(warning, {
  description: "Data that the forced activation strands; empty if there is none.",
});

export const configCheck = named("ConfigCheck", {
  warnings: Type.Array(warning, {
    description:
      "Data that a deploy of the snapshot would strand, so that it is refused unless forced; empty if there is none.",
  }),
});

const activeVersion = {
  version: versionName,
  hash,
  environment,
  activated: Type.Boolean({ description: "Whether the request activated it; false if it was already active." }),
  hasCustomers: Type.Boolean({
    description:
      "Whether the environment has customers; each keeps its derived state until its next evaluation or a recompute.",
  }),
};

export const deployed = named("DeployedVersion", { ...activeVersion, created: Type.Boolean(), warnings });

export const activated = named("ActivatedVersion", { ...activeVersion, warnings });

const configVersion = {
  version: versionName,
  hash,
  author: Type.String({ description: "E-mail address of the user who deployed it." }),
  createdAt: instant,
  provenance: orNull(buildProvenance),
  active: Type.Array(environment, { description: "The environments in which it is active." }),
};

export const listedVersion = named("ConfigVersion", configVersion);

export const versionWithSnapshot = named("ConfigVersionWithSnapshot", {
  ...configVersion,
  snapshot: jsonObject("The compiled model as it was deployed."),
});

export const activation = named("Activation", {
  version: versionName,
  previousVersion: orNull(versionName, "The version that was active before; null for the first."),
  kind: Type.Enum(["deploy", "promote", "rollback"]),
  actor: Type.String({ description: "E-mail address of the user who did it." }),
  at: instant,
});

const value = (description: string) => Type.Unknown({ description });

const change = named("Change", {
  kind: Type.Enum(["added", "removed", "changed"]),
  subject: Type.Enum([...CHANGE_SUBJECTS]),
  id: Type.String({ description: "Id of the subject.", examples: ["trial → activated"] }),
  path: Type.String({ description: "The path of `after` in the newer snapshot, or of `before` in the older one." }),
  message: Type.String({ examples: ['threshold of count of "login" within 30d: 3 → 5'] }),
  before: value("The value in the older snapshot; null if there is none."),
  after: value("The value in the newer snapshot; null if there is none."),
});

export const versionDiff = named("ConfigDiff", {
  from: orNull(versionName, "Null if the first version is compared with an empty model."),
  to: versionName,
  changes: Type.Array(change),
});

const activationBody = exact(activationOptions);

/** The options for the database, where 0 means that no version is active. */
function readActivationOptions({ expected, force = false }: Static<typeof activationBody>): ActivationOptions {
  if (expected === undefined) return { expected: null, force };
  return { expected: expected === null ? 0 : Number(expected.slice(1)), force };
}

const refusals = { 409: ["VERSION_CONFLICT", "CONFIG_WARNINGS"] };

const namedVersion = Type.Optional(
  Type.String({ pattern: "^(latest|v[1-9][0-9]{0,8})$", description: "must be a version such as v3, or latest" }),
);

/** The versions of a project, and their activation in its environments. */
export const configRoutes = [
  // 200 instead of 201 if the snapshot is already active.
  adminRoute("deploy_config", "POST /projects/:project/config-versions", {
    summary: "Deploy a snapshot as the next version of the project",
    body: { schema: newVersion, bytesMax: 8 * MIB, submission: "version" },
    answers: { 200: deployed, 201: deployed },
    refusals: { ...refusals, 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ call, at, body, ctx }) => {
      const document = await call("deploy_config", at, {
        ...(await storable("deploy_config", { call, at }, body.snapshot)),
        provenance: body.provenance ?? null,
        ...readActivationOptions(body),
      });
      const { created } = JSON.parse(document) as { created: boolean };
      ctx.status = created ? 201 : 200;
      return document;
    },
  }),
  adminRoute("check_config", "POST /projects/:project/config-checks", {
    summary: "Check which data a snapshot would strand if it were deployed, without deploying it",
    body: { schema: checkedSnapshot, bytesMax: 8 * MIB, submission: "check" },
    answers: { 200: configCheck },
    refusals: { 422: ["CONFIG_INVALID", "STATE_TOO_LARGE"] },
    answer: async ({ call, at, body }) => {
      const { snapshot } = await storable("check_config", { call, at }, body.snapshot);
      return call("check_config", at, snapshot);
    },
  }),
  adminRoute("list_config_versions", "GET /projects/:project/config-versions", {
    summary: "List the versions of a project, the newest first",
    query: listQuery,
    answers: { 200: listOf(listedVersion) },
  }),
  adminRoute("get_config_version", "GET /projects/:project/config-versions/:version", {
    summary: "Get a version with its snapshot; `latest` is the newest",
    query: emptyObject,
    answers: { 200: versionWithSnapshot },
  }),
  adminRoute("promote_config", "POST /projects/:project/config-versions/:version/promote", {
    summary: "Activate a version in live that was active in test",
    query: emptyObject,
    body: { schema: activationBody, bytesMax: KIB },
    answers: { 200: activated },
    refusals,
    passes: ({ params, body }) => [params["project"]!, params["version"]!, readActivationOptions(body)],
  }),
  adminRoute("rollback_config", "POST /projects/:project/config-versions/:version/rollback", {
    summary: "Activate a version again that was active in the environment before",
    body: { schema: activationBody, bytesMax: KIB },
    answers: { 200: activated },
    refusals,
    passes: ({ at, params, body }) => [at, params["version"]!, readActivationOptions(body)],
  }),
  // `to` is by default the newest version, and `from` the version before `to`.
  adminRoute("diff_config_versions", "GET /projects/:project/config-diff", {
    summary: "Compare two versions, in the author's terms",
    query: exact({ from: namedVersion, to: namedVersion }),
    answers: { 200: versionDiff },
    refusals: { 404: ["VERSION_NOT_FOUND"] },
    answer: async ({ deps, call, params, query }) => {
      const document = await call("diff_config_versions", params["project"]!, query.from, query.to);
      return deps.work.thread.run("compareVersions", document);
    },
  }),
  adminRoute("list_activations", "GET /projects/:project/activations", {
    summary: "List the activations of versions in an environment, the newest first",
    query: listQuery,
    answers: { 200: listOf(activation) },
  }),
];
