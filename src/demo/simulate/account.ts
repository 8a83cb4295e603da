/** The commercial side of a customer's life: sign-up, trial, subscription, invoices, refused charges, upgrades, cancellation. */
import { HOUR_MS } from "./calendar.js";
import { type Life, type Plan, type Profile, TRIAL_DAYS } from "./profile.js";

/** Monthly price of a seat, in whole units of the currency. */
const SEAT_PRICE: Record<Plan, number> = { starter: 12, pro: 29, enterprise: 49 };
const INVOICE_DAYS = 30;
/** Contracts run for a quarter. */
const CONTRACT_DAYS = 90;

/** Sends the traits that are known on the first day. A lead has no trial yet. */
export function introduce({ profile, log, calendar }: Life, at: number): void {
  const { companyName, industry, country, signUpDay, cohort, source } = profile;
  const known = { companyName, industry, country, managed: source === "sales" };
  if (cohort === "lead") return log.identify(at, known);
  const trialEndsOn = calendar.closeOfBusiness(signUpDay + TRIAL_DAYS);
  log.identify(at, { ...known, plan: "trial", seats: 1, trialEndsOn });
  log.track(at + 1_000, "signed_up", { source });
}

/** Plays the subscription from the end of the trial to the end of the history or of the subscription. Returns the day it ends, or null. */
export function subscribe(life: Life): number | null {
  const { profile, log, random, calendar } = life;
  const end = profile.cancellation === null ? null : profile.signUpDay + profile.cancellation.day;
  // A customer that faded without cancelling lets the subscription run out.
  const lastPayment = profile.cohort === "fader" ? profile.signUpDay + profile.turn + profile.turnLength : end;
  const subscription = profile.plan === null ? null : beginSubscription(life);
  const unpaid = subscription === null ? null : payInvoices(life, subscription, lastPayment);
  if (unpaid !== null) return unpaid;
  if (end === null || profile.cancellation === null) return null;
  const { reason } = profile.cancellation;
  log.track(calendar.instant(end, calendar.workingMinute(random)), "subscription_cancelled", { reason });
  return end;
}

/**
 * Most customers buy on the day the trial ends, eager ones some days before. Upgrades and more seats come with the team's growth. Returns the day
 * on which the first invoice is due, and a function for the plan and the paid seats on a day of the history.
 */
function beginSubscription({ profile, log, random, calendar }: Life) {
  const day = profile.signUpDay + (random.chance(0.3) ? random.whole(4, TRIAL_DAYS - 1) : TRIAL_DAYS);
  const first: Plan = profile.plan ?? "starter";
  const grown: Plan = profile.cohort === "climber" && first === "starter" && random.chance(0.45) ? "pro" : first;
  const upgradeDay = day + random.whole(25, 60);
  const planOn = (on: number) => (on >= upgradeDay ? grown : first);
  const terms = (on: number) => ({ plan: planOn(on), seats: Math.max(1, membersOn(profile, on)) });

  const renewal = { renewsOn: calendar.closeOfBusiness(day + CONTRACT_DAYS) };
  log.identify(calendar.instant(day, 9 * 60), { ...terms(day), ...addOns(first), ...renewal, trialEndsOn: null });
  if (grown !== first) log.identify(calendar.instant(upgradeDay, 11 * 60), { ...terms(upgradeDay), ...addOns(grown) });
  for (let renewed = day + CONTRACT_DAYS; renewed < calendar.days; renewed += CONTRACT_DAYS) {
    const next = calendar.closeOfBusiness(renewed + CONTRACT_DAYS);
    if (profile.cancellation === null) log.identify(calendar.instant(renewed, 18 * 60), { renewsOn: next });
  }
  return { day, terms };
}

function addOns(plan: Plan): { addOns?: string[] } {
  if (plan === "enterprise") return { addOns: ["sso", "audit_log", "priority_support"] };
  return plan === "pro" ? { addOns: ["sso"] } : {};
}

/** Members of the team on a day: one at sign-up, all after `teamGrowthDays`. */
export function membersOn(profile: Profile, day: number): number {
  const grown = Math.min(1, Math.max(0, (day - profile.signUpDay) / profile.teamGrowthDays));
  return 1 + Math.floor((profile.team - 1) * grown);
}

/** An invoice every thirty days. Returns the day on which an unpaid one ended the subscription; null if none did. */
function payInvoices(life: Life, { day: first, terms }: ReturnType<typeof beginSubscription>, end: number | null) {
  const { log, random, calendar } = life;
  const { currency } = life.profile;
  let seatsPaid = terms(first).seats;
  for (let day = first; day < calendar.days && (end === null || day < end); day += INVOICE_DAYS) {
    const { plan, seats } = terms(day);
    const morning = calendar.instant(day, 9 * 60 + random.whole(1, 25));
    if (seats !== seatsPaid) log.identify(morning - HOUR_MS, { seats });
    seatsPaid = seats;
    const amount = SEAT_PRICE[plan] * seats;
    // Charges under individual contracts hardly ever fail.
    const refused = random.chance(plan === "enterprise" ? 0.01 : 0.1);
    const paidOn = refused ? dun(life, day, amount) : day;
    if (paidOn === null) return day + 9;
    const minute = (morning - calendar.instant(day, 0)) / 60_000;
    log.track(calendar.instant(paidOn, minute), "invoice_paid", { amount, currency });
  }
  return null;
}

/** Retries a refused charge every third day. Returns the day it worked; null if the account was closed instead. */
function dun({ profile, log, random, calendar }: Life, day: number, amount: number): number | null {
  const reason = random.weighted({ card_expired: 0.55, insufficient_funds: 0.25, declined: 0.2 });
  for (let attempt = 1; attempt <= 3; attempt++) {
    log.track(calendar.instant(day + (attempt - 1) * 3, 9 * 60 + 30), "payment_failed", { amount, reason, attempt });
    if (random.chance(0.45)) return day + (attempt - 1) * 3 + 2;
  }
  // Customers who work with the product every day find another card in the end.
  if (profile.cohort === "champion" || profile.cohort === "climber" || random.chance(0.5)) return day + 9;
  log.track(calendar.instant(day + 9, 10 * 60), "subscription_cancelled", { reason: "other" });
  return null;
}
