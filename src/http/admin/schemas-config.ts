import Type from "typebox";
import type { Subject } from "../../model/compare/compare.js";
import { environment, instant, jsonObject, named, orNull, versionName } from "./schemas.js";

const text = Type.Optional(Type.String({ maxLength: 1024 }));

export const buildProvenance = named("Provenance", "Where a version was built, as far as it is known.", {
  repository: text,
  commit: text,
  ref: text,
  workflow: text,
  run: text,
});

/** Members of the body of whatever makes a version the active one. */
export const activationOptions = {
  expected: Type.Optional(
    Type.Union([Type.String({ pattern: "^v[1-9][0-9]{0,8}$" }), Type.Null()], {
      description: "must be the version that is to be active at present, such as v3, or null for none",
    }),
  ),
  force: Type.Optional(Type.Boolean()),
};

export const hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256 of the canonical snapshot." });

/** What may not be activated without `force`, and was. */
const warnings = Type.Array(named("Warning", { code: Type.String(), message: Type.String(), path: Type.String() }), {
  description: "Data that this strands, as it was forced; empty where it strands none.",
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
  subject: Type.Enum([
    "event",
    "property",
    "trait",
    "state",
    "transition",
    "segment",
    "journey",
    "step",
    "health component",
    "rule",
    "signal",
    "setting",
  ] satisfies Subject[]),
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
