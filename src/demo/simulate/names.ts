/** Invented companies. */
import type { Random } from "./random.js";

const FIRST = `
  Amber Aspen Birch Bluebell Bramble Canyon Cedar Cobalt Copper Coral Crescent Delta Driftwood Ember
  Falcon Fern Flint Garnet Glacier Granite Harbor Hazel Heron Indigo Juniper Kestrel Lantern Larch
  Lumen Maple Meadow Mistral Nimbus Oakfield Onyx Orchard Pebble Pinewood Quarry Raven Ridge Saffron
  Sierra Silver Summit Thistle Tundra Willow Wren Zephyr
`
  .trim()
  .split(/\s+/);

const SECOND = {
  software: ["Software", "Labs", "Systems", "Cloud", "Digital"],
  retail: ["Outfitters", "Market", "Trading", "Goods", "Stores"],
  finance: ["Capital", "Credit", "Partners", "Insurance", "Ledger"],
  health: ["Clinics", "Health", "Care", "Pharma", "Dental"],
  education: ["Academy", "Learning", "Press", "Campus", "Tutors"],
  other: ["Logistics", "Studios", "Works", "Energy", "Travel"],
} as const;

export type Industry = keyof typeof SECOND;

export const INDUSTRIES: Record<Industry, number> = {
  software: 0.34,
  retail: 0.16,
  finance: 0.13,
  health: 0.12,
  education: 0.1,
  other: 0.15,
};

/** A company's name and, made of it, its customer id. `taken` holds the ids given out so far; a name that repeats gets a number. */
export function nameCompany(
  random: Random,
  industry: Industry,
  taken: Set<string>,
): { companyName: string; customerId: string } {
  const name = `${random.pick(FIRST)} ${random.pick(SECOND[industry])}`;
  for (let number = 1; ; number++) {
    const companyName = number === 1 ? name : `${name} ${number}`;
    const customerId = companyName.toLowerCase().replaceAll(" ", "-");
    if (taken.has(customerId)) continue;
    taken.add(customerId);
    return { companyName, customerId };
  }
}
