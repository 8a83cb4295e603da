import { array, boolean, date, oneOf, string, traits } from "svc-success";

export const shopper = traits({
  country: string(),
  /** Whether the shop may write mails that advertise. What is owed to a customer, such as an apology, needs no consent. */
  mailConsent: boolean(),
  /** The paid membership: free delivery for a year. */
  membership: oneOf("none", "member"),
  memberUntil: date(),
  favourites: array(oneOf("shoes", "coats", "bags", "knitwear", "accessories")),
});
