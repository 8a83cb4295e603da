// How an account is shown to the people who look after it: what they want to know before they call. Nothing is derived from it.
import { display } from "svc-success";
import { account } from "./traits.js";

export const shown = display({
  name: account.companyName,
  renewal: account.renewsOn,
  show: [account.plan, account.seats, account.industry, account.managed, account.addOns],
});
