import Type from "typebox";

import type { ConfigVersion } from "../../../../http/admin/answers.js";
import { failure } from "../../../core/errors.js";
import { modelFacts } from "../../ai/model-facts.js";
import { pick } from "../../ai/sanitizer.js";
import { activeVersion, getDiff, getVersion } from "../../config/stored-versions.js";
import { defineTool, document, pageInput, pageOutput, readPage } from "../tool.js";

const versionInput = (description: string) => Type.String({ pattern: "^(latest|v[1-9][0-9]{0,8})$", description });

const listVersions = defineTool({
  name: "list_versions",
  title: "Versions of the model",
  description: "The deployed versions of the model, newest first, and in which environments each is active.",
  effect: "reads",
  input: pageInput,
  output: pageOutput({
    version: Type.String(),
    createdAt: Type.String(),
    active: Type.Array(Type.String({ description: "Environments." })),
  }),
  run: (call, page) =>
    readPage(call, ["config-versions"], { ...page, env: undefined }, (row: ConfigVersion) =>
      pick(row, "version", "createdAt", "active"),
    ),
});

const showVersion = defineTool({
  name: "show_version",
  title: "A version of the model",
  description:
    "What a version of the model derives, part by part in words: lifecycle, journeys, segments, health, signals, rules, events and traits.",
  effect: "reads",
  input: { version: Type.Optional(versionInput("Such as v3, or latest; the active one unless given.")) },
  less: "ask explain_customer about a customer, or compare_versions",
  output: { version: Type.String(), model: document("The model in words.") },
  async run({ context }, { version }) {
    const named = version ?? (await activeVersion(context));
    if (named === null) {
      const message = `no model is active in ${context.settings.environment}`;
      throw failure("NOTHING_DEPLOYED", message, "name a version of list_versions, or deploy one: `svc deploy`");
    }
    const { version: shown, snapshot } = await getVersion(context, named);
    return { version: shown, model: modelFacts(snapshot, []) };
  },
});

const compareVersions = defineTool({
  name: "compare_versions",
  title: "Compare versions",
  description: "What is different between two versions of the model, change by change.",
  effect: "reads",
  input: {
    from: versionInput("The older one, such as v3."),
    to: versionInput("The newer one, such as v4, or latest."),
  },
  less: "compare versions that are closer to each other",
  output: {
    from: Type.Unknown(),
    to: Type.String(),
    changes: Type.Array(
      Type.Object({ kind: Type.String(), subject: Type.String(), id: Type.String(), message: Type.String() }),
    ),
  },
  async run({ context }, { from, to }) {
    const { data } = await getDiff(context, from, to);
    return { ...data, changes: data.changes.map((change) => pick(change, "kind", "subject", "id", "message")) };
  },
});

export const versionTools = [listVersions, showVersion, compareVersions];
