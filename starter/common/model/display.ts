// How an account is shown to people. Nothing is derived from it.
import { display } from "svc-success";
import { account } from "./traits.js";

export const shown = display({
  name: account.companyName,
  renewal: account.renewsOn,
  show: [account.plan, account.seats],
});
