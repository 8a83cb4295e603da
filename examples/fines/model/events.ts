// Amounts are in euros. `totalPaymentAmount` is what has been paid on the case so far, this payment included.
import { event, number, string } from "svc-success";

export const createFine = event("Create Fine", {
  amount: number(),
  totalPaymentAmount: number(),
  /** Points taken from the driving licence. */
  points: number(),
  /** The article of the traffic law. */
  article: string(),
  dismissal: string(),
  vehicleClass: string(),
  /** Who recorded the offence. */
  resource: string(),
});

/** The fine goes out by post, which costs the offender a further `expense`. */
export const sendFine = event("Send Fine", { expense: number() });

/** The post reports that the fine was delivered; the sixty days to pay or to appeal begin. */
export const insertNotification = event("Insert Fine Notification", {
  notificationType: string().optional(),
  lastSent: string().optional(),
});

/** Sixty days have passed: `amount` is what is due from now on. */
export const addPenalty = event("Add penalty", { amount: number() });

export const payment = event("Payment", { totalPaymentAmount: number() });

/** The town gives the case away. */
export const sendForCollection = event("Send for Credit Collection");

/** The offender files an appeal with the prefecture … */
export const fileAppeal = event("Insert Date Appeal to Prefecture");

/** … the town passes it on, unless it drops the case by itself (`dismissal` "#") … */
export const sendAppeal = event("Send Appeal to Prefecture", { dismissal: string() });

/** … the prefecture decides … */
export const receiveResult = event("Receive Result Appeal from Prefecture");

/** … and the offender is told. */
export const notifyResult = event("Notify Result Appeal to Offender");

/** An appeal to the court, with or without one to the prefecture before. `dismissal` is "G" where the judge drops the case. */
export const appealToJudge = event("Appeal to Judge", { dismissal: string(), resource: string() });
