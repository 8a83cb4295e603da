import type { Usage } from "../../../http/admin/answers.js";
import { formatNumber, plural } from "../../../words/text.js";
import { Ago, MaybeLink, Text } from "../../parts.js";
import { Table } from "../../tables.js";
import { ShareBar } from "../../charts/share-bar.js";

/** How much of its plan the organization has used. */
export function PlanUsage({ usage }: { usage: Usage }) {
  const { plan, resetsAt, used, limits } = usage;
  const rows = [
    ["Events this month", "monthlyEvents", null],
    ["Projects", "projects", null],
    ["Members, with open invitations", "members", "members"],
    ["Access tokens", "tokens", "tokens"],
  ] as const;
  return (
    <>
      <p>
        The plan is{" "}
        <strong>
          <Text>{plan}</Text>
        </strong>
        . Events are counted anew <Ago iso={resetsAt} />, and kept{" "}
        {limits.retentionDays === null ? "for ever" : `for ${plural(limits.retentionDays, "day")}`}.
      </p>
      <Table
        name="Usage of the plan"
        rows={rows}
        columns={[
          ["What", ([text, , href]) => <MaybeLink href={href}>{text}</MaybeLink>],
          ["Used", ([, name]) => formatNumber(used[name]), "number"],
          ["Of", ([, name]) => (limits[name] === null ? "no limit" : formatNumber(limits[name])), "number"],
          ["Share", ([, name]) => (limits[name] ? <ShareBar share={Math.min(1, used[name] / limits[name])} /> : null)],
        ]}
      />
    </>
  );
}
