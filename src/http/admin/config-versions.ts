import Type from "typebox";
import * as calls from "../../db/calls-admin.js";
import { canonicalJson, hashSnapshot } from "../../snapshot/canonical.js";
import { parseSnapshot } from "../../snapshot/validate.js";
import { ApiError } from "../errors.js";
import { environmentQuery, listQuery, MIB } from "./parameters.js";
import { adminRoute } from "./route.js";

const text = Type.Optional(Type.String({ maxLength: 1024 }));

/** Where a version was built, as far as it is known. */
const provenance = Type.Object(
  { repository: text, commit: text, ref: text, workflow: text, run: text },
  { additionalProperties: false },
);

const newVersion = Type.Object(
  { snapshot: Type.Unknown(), provenance: Type.Optional(provenance) },
  { additionalProperties: false },
);

/** Deploys a snapshot as the next version of the project; 200 instead of 201 where it is what is active already. */
export const deployConfig = adminRoute({
  operation: "deploy_config",
  method: "POST",
  path: "/projects/:project/config-versions",
  summary: "Deploy a snapshot as the next version of the project",
  query: environmentQuery,
  body: { schema: newVersion, bytesMax: 8 * MIB },
  answer: async ({ deps, credentials, params, query, body }) => {
    const parsed = parseSnapshot(body.snapshot);
    if (!parsed.ok) throw invalidConfig(parsed.problems);
    const document = await calls.deployConfig(
      deps.sql,
      credentials,
      { project: params["project"]!, environment: query.env },
      {
        snapshot: canonicalJson(parsed.snapshot),
        hash: hashSnapshot(parsed.snapshot),
        provenance: body.provenance ?? null,
      },
    );
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
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => ({
    status: 200,
    document: await calls.listConfigVersions(
      deps.sql,
      credentials,
      { project: params["project"]!, environment: env },
      page,
    ),
  }),
});

function invalidConfig(problems: readonly { path: string; code: string; message: string }[]): ApiError {
  return new ApiError(422, "CONFIG_INVALID", {
    message: "The snapshot is not a valid configuration.",
    fix: "Correct the model and compile it again; diagnostics lists every problem.",
    diagnostics: problems.map(({ code, message, path }) => ({ code, message, path })),
  });
}
