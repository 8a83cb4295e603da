/** The daily side of a customer's life: first steps, sessions and the actions in them, the team, and support tickets. */
import { membersOn } from "./account.js";
import { MINUTE_MS } from "./calendar.js";
import { type Life, liveliness } from "./profile.js";

const TEMPLATES = ["roadmap", "kanban", "onboarding", "marketing_plan", "bug_tracker"] as const;
const TOPICS = ["billing", "login", "import", "permissions", "performance", "how_to"] as const;

/** The first day: a login at once and, for a serious customer, a first project and first uses of features. */
export function takeFirstSteps(life: Life, signedUpAt: number): void {
  const { profile, log, random } = life;
  log.track(signedUpAt + random.whole(20, 300) * 1_000, "login", { method: "password" });
  if (profile.cohort === "neverStarted") {
    if (random.chance(0.4)) log.track(signedUpAt + random.whole(20, 90) * MINUTE_MS, "login", { method: "magic_link" });
    return;
  }
  const minutes = random.whole(3, profile.cohort === "champion" ? 25 : 70);
  if (random.chance(profile.cohort === "dabbler" ? 0.45 : 0.93))
    createProject(life, signedUpAt + minutes * MINUTE_MS, profile.signUpDay);
  const uses = profile.depth === 0 ? 0 : profile.cohort === "dabbler" ? random.whole(1, 2) : random.whole(2, 6);
  for (let use = 0; use < uses; use++) useFeature(life, signedUpAt + (minutes + 2 + use * 3) * MINUTE_MS);
}

/** Plays a day. Most activity happens in sessions; invitations and tickets happen once for the day. */
export function playDay(life: Life, day: number): void {
  const { profile, calendar, random, incident } = life;
  const daysSinceSignUp = day - profile.signUpDay;
  inviteMembers(life, day);
  let lively = liveliness(profile, daysSinceSignUp) * calendar.activity(day);
  // Customers who are hit by the incident leave early.
  if (incident.hits(profile, day)) lively *= 0.6;
  if (!random.chance(profile.presence * lively)) return;
  const sessions = Math.max(1, random.count(profile.sessions * (0.6 + 0.03 * membersOn(profile, day))));
  for (let session = 0; session < sessions; session++) playSession(life, day, lively);
  if (random.chance(0.012))
    openTicket(life, day, random.chance(0.08) ? "urgent" : random.chance(0.3) ? "low" : "normal");
}

function playSession(life: Life, day: number, lively: number): void {
  const { profile, log, random, calendar } = life;
  const method =
    profile.plan === "starter" || profile.plan === null ? "password" : random.weighted({ sso: 0.8, password: 0.2 });
  let at = calendar.instant(day, calendar.workingMinute(random)) + random.whole(0, 59_999);
  log.track(at, "login", random.chance(0.18) ? { method, mobile: true } : { method });
  const uses = random.count(profile.depth * (0.4 + 0.6 * lively));
  for (let use = 0; use < uses; use++) {
    at += random.whole(40, 900) * 1_000;
    useFeature(life, at);
  }
  if (uses > 0 && random.chance(0.025)) createProject(life, at + random.whole(1, 9) * MINUTE_MS, day);
  // Reports are for the meeting at the end of the week.
  const reporting = calendar.weekday(day) === 5 ? 0.16 : 0.03;
  if (uses > 1 && random.chance(reporting)) {
    const format = random.weighted({ pdf: 0.5, csv: 0.3, xlsx: 0.2 });
    log.track(at + random.whole(1, 9) * MINUTE_MS, "report_exported", { format, rows: random.whole(10, 4_000) });
  }
}

function useFeature({ profile, log, random }: Life, at: number): void {
  log.track(at, "feature_used", { feature: random.weighted(profile.features) });
}

function createProject({ profile, log, random }: Life, at: number, day: number): void {
  const members = membersOn(profile, day);
  const source = random.chance(profile.features.api > 0.5 ? 0.3 : 0.05) ? "api" : "web";
  const seats = Math.max(1, Math.round(random.between(0.4, 1) * members));
  const template = random.chance(0.5) ? { template: random.pick(TEMPLATES) } : {};
  log.track(at, "project_created", { source, seats, ...template });
}

/** The team only grows while the customer is active. */
function inviteMembers({ profile, log, random, calendar }: Life, day: number): void {
  if (day <= profile.signUpDay || liveliness(profile, day - profile.signUpDay) < 0.3) return;
  const joined = membersOn(profile, day) - membersOn(profile, day - 1);
  for (let member = 0; member < joined; member++) {
    const at = calendar.instant(day, calendar.workingMinute(random));
    log.track(at, "member_invited", { role: random.weighted({ editor: 0.6, viewer: 0.3, admin: 0.1 }) });
  }
}

function openTicket({ log, random, calendar }: Life, day: number, priority: "low" | "normal" | "urgent"): void {
  const topic = random.chance(0.8) ? { topic: random.pick(TOPICS) } : {};
  log.track(calendar.instant(day, calendar.workingMinute(random)), "support_ticket_opened", { priority, ...topic });
}

/** The incident's effect on one customer on one of its days: monitoring reports it, and the customer may open tickets. */
export function sufferIncident({ profile, log, random, calendar, incident }: Life, day: number): void {
  if (!incident.hits(profile, day)) return;
  if (!random.chance(profile.presence * liveliness(profile, day - profile.signUpDay))) return;
  const at = calendar.instant(day, random.around(incident.minute(day), 8));
  log.track(at, "incident_reported", { severity: incident.severity(day), minutes: random.whole(35, 190) });
  const tickets = random.weighted({ "0": 0.5, "1": 0.35, "2": 0.15 });
  for (let ticket = 0; ticket < Number(tickets); ticket++) {
    const written = at + random.whole(5, 150) * MINUTE_MS;
    log.track(written, "support_ticket_opened", { priority: "urgent", topic: "outage" });
  }
}
