import type { Snapshot } from "../model/snapshot/types.js";
import { useLook } from "./look.js";
import { Ago, type TableColumn, Text } from "./parts.js";

const HEADINGS = { owner: "Owner", renewal: "Renewal" } as const;

export type ShownColumn = keyof typeof HEADINGS;

/** Which of these a list of customers has a column of. */
export function shownColumns(model: Snapshot | null): ShownColumn[] {
  return (["owner", "renewal"] as const).filter((member) => model?.display?.[member] !== undefined);
}

/** Their headings. */
export function headingsOf(columns: ShownColumn[]): TableColumn[] {
  return columns.map((member) => ({ heading: HEADINGS[member] }));
}

/** Their cells in the row of a customer. */
export function ShownCells({ id, columns }: { id: string; columns: ShownColumn[] }) {
  const shown = useLook().shownOf(id);
  return (
    <>
      {columns.map((member) => (
        <td key={member}>
          <Member member={member} value={shown[member]} />
        </td>
      ))}
    </>
  );
}

function Member({ member, value }: { member: ShownColumn; value: string | undefined }) {
  if (value === undefined) return <span class="faint">none</span>;
  return member === "renewal" && !Number.isNaN(Date.parse(value)) ? <Ago iso={value} /> : <Text>{value}</Text>;
}
