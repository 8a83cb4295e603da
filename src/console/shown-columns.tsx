import type { Snapshot } from "../model/snapshot/types.js";
import { useLook } from "./look.js";
import { Ago, Text } from "./parts.js";
import type { TableColumn } from "./tables.js";

const HEADINGS = { owner: "Owner", renewal: "Renewal" } as const;

type ShownMember = keyof typeof HEADINGS;

/** Which of these a list of customers has a column of. */
export function shownMembers(model: Snapshot | null): ShownMember[] {
  return (["owner", "renewal"] as const).filter((member) => model?.display?.[member] !== undefined);
}

/** Their columns. */
export function shownColumns(model: Snapshot | null): TableColumn<{ customerId: string }>[] {
  return shownMembers(model).map((member) => [
    HEADINGS[member],
    (row) => <Member of={row.customerId} member={member} />,
  ]);
}

function Member({ of: customerId, member }: { of: string; member: ShownMember }) {
  const value = useLook().shownOf(customerId)[member];
  if (value === undefined) return <span class="faint">none</span>;
  return member === "renewal" && !Number.isNaN(Date.parse(value)) ? <Ago iso={value} /> : <Text>{value}</Text>;
}
