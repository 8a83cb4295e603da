import type { Usage } from "../../../http/admin/answers.js";
import { formatNumber, plural } from "../../../words/text.js";
import { Ago, MaybeLink, Table, Text } from "../../parts.js";
import { ShareBar } from "../../charts/share-bar.js";

const COLUMNS = [
  { heading: "What" },
  { heading: "Used", isNumber: true },
  { heading: "Of", isNumber: true },
  { heading: "Share" },
];

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
      <Table name="Usage of the plan" columns={COLUMNS}>
        {rows.map(([text, name, href]) => {
          const limit = limits[name];
          return (
            <tr key={name}>
              <td>
                <MaybeLink href={href}>{text}</MaybeLink>
              </td>
              <td class="number">{formatNumber(used[name])}</td>
              <td class="number">{limit === null ? "no limit" : formatNumber(limit)}</td>
              <td>{limit === null || limit === 0 ? null : <ShareBar share={Math.min(1, used[name] / limit)} />}</td>
            </tr>
          );
        })}
      </Table>
    </>
  );
}
