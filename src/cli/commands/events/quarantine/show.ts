import type { Quarantined } from "../../../../http/admin/answers.js";
import { readList } from "../../../client/pages.js";
import { defineCommand, projectOptions } from "../../../core/command.js";
import { elementTexts, memberTexts } from "../../../../words/json-text.js";
import { fields } from "../../../output/table.js";
import { printable } from "../../../../words/text.js";
import { notInQuarantine } from "./step.js";

export default defineCommand({
  args: { quarantineId: "The operation's id, or the id that its event will have" },
  options: projectOptions,
  examples: [
    ["svc events quarantine show qop_0000000000000400", "The operation as it was sent, and what is wrong with it"],
  ],
  async handler({ api, out, settings }, { quarantineId }) {
    const answer = await readList<Quarantined>(api, ["quarantine"], { id: quarantineId, limit: 1 });
    const [quarantined] = answer.data.data;
    if (quarantined === undefined) throw notInQuarantine(quarantineId, settings.environment);
    const [text = "{}"] = elementTexts(memberTexts(answer.text).get("data") ?? "[]");
    out.result({ text }, () =>
      fields(out, [
        ["Id", quarantined.quarantineId],
        ["Accepted", out.at(quarantined.quarantinedAt)],
        ["Checked against", quarantined.configVersion ?? "no version"],
        // From the answer's text, so that long numbers keep all their digits.
        ["Operation", printable(memberTexts(text).get("operation") ?? "")],
        ...quarantined.violations.map(({ code, path, message }) => [code, printable(`${path}: ${message}`)] as const),
      ]),
    );
  },
});
