import Type from "typebox";
import type { Subject } from "../../model/compare/compare.js";
import { environmentName, exact, instant, jsonObject, listOf, orNull, version } from "./schemas-common.js";

const text = Type.Optional(Type.String({ maxLength: 1024 }));

/** Where a version was built, as far as it is known. */
export const provenance = exact(
  { repository: text, commit: text, ref: text, workflow: text, run: text },
  { title: "Provenance", description: "Where a version was built, as far as it is known." },
);

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
const warnings = Type.Array(
  exact({ code: Type.String(), message: Type.String(), path: Type.String() }, { title: "Warning" }),
  { description: "Data that this strands, as it was forced; empty where it strands none." },
);

const activeVersion = {
  version,
  hash,
  environment: environmentName,
  activated: Type.Boolean({ description: "Whether this made it the active one; false where it was already." }),
  hasCustomers: Type.Boolean({
    description:
      "Whether the environment has customers; they stay as they were derived until something happens or a recompute.",
  }),
};

export const deployed = exact({ ...activeVersion, created: Type.Boolean(), warnings }, { title: "DeployedVersion" });

export const activated = exact({ ...activeVersion, warnings }, { title: "ActivatedVersion" });

const configVersion = {
  version,
  hash,
  author: Type.String({ description: "E-mail address of who deployed it." }),
  createdAt: instant,
  provenance: orNull(provenance),
  active: Type.Array(environmentName, { description: "Where it is active." }),
};

export const listedVersion = exact(configVersion, { title: "ConfigVersion" });

export const versionList = listOf(listedVersion);

export const versionWithSnapshot = exact(
  { ...configVersion, snapshot: jsonObject("The compiled model, as it was deployed.") },
  { title: "ConfigVersionWithSnapshot" },
);

export const activation = exact(
  {
    version,
    previousVersion: orNull(version, "The version that was active before; null for the first."),
    kind: Type.Enum(["deploy", "promote", "rollback"]),
    actor: Type.String({ description: "E-mail address of who did it." }),
    at: instant,
  },
  { title: "Activation" },
);

export const activationList = listOf(activation);

const value = (description: string) => Type.Unknown({ description });

const change = exact(
  {
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
  },
  { title: "Change" },
);

export const versionDiff = exact(
  {
    from: orNull(version, "Null where the first version is compared with nothing."),
    to: version,
    changes: Type.Array(change),
  },
  { title: "ConfigDiff" },
);
