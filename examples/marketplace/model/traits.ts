import { boolean, date, number, oneOf, traits } from "svc-success";

export const party = traits({
  /** On which side of the market the customer is. Who does both has two accounts, as the two have little in common. */
  side: oneOf("buyer", "seller"),
  /** Shops are sellers with a contract; the rest are people. */
  professional: boolean(),
  contractEndsOn: date(),
  /** Share of the price that the marketplace keeps, in percent. */
  commission: number(),
});

export const seller = party.side.is("seller");
export const buyer = party.side.is("buyer");
