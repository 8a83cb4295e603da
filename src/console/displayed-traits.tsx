import type { Display, Snapshot } from "../model/snapshot/types.js";
import type { Visit } from "./console-page.js";
import { type DisplayedTraits, usePresentation } from "./presentation.js";
import { Ago, Text } from "./parts.js";
import type { TableColumn } from "./tables.js";

const MEMBERS = ["name", "owner", "renewal"] as const;

/** Customers per request. */
const ASKED_AT_ONCE = 40;
/** The most characters of a parameter of such a request. */
const PARAMETER_LENGTH = 12_000;

/** Texts as JSON arrays, each of at most `itemsMax` and short enough for a request of traits: in JSON, a text can be six times as long. */
export function jsonArrays(texts: readonly string[], itemsMax: number): string[] {
  const arrays: string[][] = [];
  let room = 0;
  for (const text of texts) {
    const item = JSON.stringify(text);
    room -= item.length + 1;
    if (room < 0 || arrays.at(-1)?.length === itemsMax) {
      arrays.push([]);
      room = PARAMETER_LENGTH - item.length - 2;
    }
    arrays.at(-1)!.push(item);
  }
  return arrays.map((items) => `[${items.join()}]`);
}

/** The displayed traits of these customers, by id. */
export async function displayedTraits(
  { ask, model }: Pick<Visit, "ask" | "model">,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, DisplayedTraits>> {
  const shown = new Map<string, DisplayedTraits>();
  const traits = MEMBERS.flatMap((member) => model?.display?.[member] ?? []);
  if (traits.length === 0) return shown;
  for (const customers of jsonArrays([...new Set(customerIds)], ASKED_AT_ONCE)) {
    const texts = await ask("traits", { customers, names: JSON.stringify(traits) });
    for (const [id, values] of Object.entries(texts)) shown.set(id, displayedIn(model?.display ?? {}, values));
  }
  return shown;
}

function displayedIn(display: Display, values: Readonly<Record<string, string>>): DisplayedTraits {
  const members = MEMBERS.flatMap((member) => {
    const value = values[display[member] ?? ""]?.trim() ?? "";
    return value === "" ? [] : [[member, value]];
  });
  return Object.fromEntries(members) as DisplayedTraits;
}

const HEADINGS = { owner: "Owner", renewal: "Renewal" } as const;

type DisplayedMember = keyof typeof HEADINGS;

/** The displayed traits for which a list of customers has a column. */
export function displayedMembers(model: Snapshot | null): DisplayedMember[] {
  return (["owner", "renewal"] as const).filter((member) => model?.display?.[member] !== undefined);
}

/** The columns for `displayedMembers`. */
export function displayedColumns(model: Snapshot | null): TableColumn<{ customerId: string }>[] {
  return displayedMembers(model).map((member) => [
    HEADINGS[member],
    (row) => <Member of={row.customerId} member={member} />,
  ]);
}

function Member({ of: customerId, member }: { of: string; member: DisplayedMember }) {
  const value = usePresentation().displayedTraitsOf(customerId)[member];
  if (value === undefined) return <span class="faint">none</span>;
  return member === "renewal" && !Number.isNaN(Date.parse(value)) ? <Ago iso={value} /> : <Text>{value}</Text>;
}
