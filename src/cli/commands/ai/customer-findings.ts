import type { Event } from "../../client/answers.js";
import type { Snapshot } from "../../../model/snapshot/types.js";
import { plural } from "../../output/text.js";
import type { CustomerRecord } from "./customer.js";

const LATE_MS = 86_400_000;

/**
 * What is, or may be, wrong with a customer, in sentences with what to do, the most severe first; empty where nothing is. None of them has a value of the
 * customer's, or an identifier, so they may be sent as they are.
 */
export function findingsOf({ state, backlog, explanation, snapshot, events, ruleRuns }: CustomerRecord): string[] {
  const found: string[] = [];
  const { pending, ahead, setAside } = backlog;
  if (setAside !== null) {
    found.push(
      `Its evaluation failed at ${setAside.at}, and it was set aside: ${plural(pending, "operation")} wait until the cause is mended and it is released (svc customers release).`,
    );
  } else if (pending > ahead) {
    found.push(`${plural(pending - ahead, "operation")} of it are not evaluated yet: the state is not the last word.`);
  }
  if (ahead > 0) found.push(`${plural(ahead, "operation")} have a time that has not come; they count from then on.`);
  const { configVersion, activeVersion } = explanation;
  if (configVersion !== activeVersion) {
    found.push(
      `Its state was computed under ${configVersion ?? "no model"}, and ${activeVersion ?? "none"} is active: svc recompute --customer computes it anew.`,
    );
  }
  const failed = ruleRuns.filter(({ result }) => result === "error");
  for (const rule of new Set(failed.map(({ ruleId }) => ruleId))) {
    const times = failed.filter(({ ruleId }) => ruleId === rule).length;
    found.push(
      `The rule ${rule} could not be run, ${plural(times, "time")} of the latest ${ruleRuns.length} runs of rules.`,
    );
  }
  const undeclared = events.filter(({ event }) => isUndeclared(snapshot, event)).length;
  if (undeclared > 0) {
    found.push(
      `Events of names that the model does not declare, which no condition can read: ${undeclared} of the latest ${events.length}.`,
    );
  }
  const late = events.filter(isLate).length;
  if (late > 0) {
    found.push(`Events that were sent more than a day after they happened: ${late} of the latest ${events.length}.`);
  }
  if (state.lastEventAt === null) found.push("It has no events: only traits are known.");
  return found;
}

function isUndeclared(snapshot: Snapshot | null, event: string): boolean {
  return snapshot !== null && !Object.hasOwn(snapshot.events, event);
}

function isLate({ occurredAt, acceptedAt }: Event): boolean {
  return Date.parse(acceptedAt) - Date.parse(occurredAt) > LATE_MS;
}
