/** Floods of reads: lists, explanations, exports, streams. */
import { flood } from "../flood.js";
import { HARMLESS } from "../models.js";
import type { Attack } from "./attack.js";
import { inProject, populate, requireDeployed } from "./project.js";

const CUSTOMERS = 20_000;
/** Events of a single customer. */
const EVENTS = 50_000;
const LISTS = [
  "customers?limit=200",
  "events?limit=200",
  "customers/c1/timeline?limit=200",
  "rule-executions?limit=200",
  "schema-violations?limit=200",
  "overview",
  "diagnostics",
];

const LISTING: Attack = {
  name: "lists",
  what: `lists of ${CUSTOMERS} customers, 32 at once`,
  prepare: async (ground) => {
    await requireDeployed(ground, HARMLESS);
    await populate(ground, CUSTOMERS, (index) => ({ customerId: `c${index}`, event: "seen" }));
    return (signal) =>
      flood({ lanes: 32, signal }, (index) =>
        ground.sender.manage({ path: inProject(ground, LISTS[index % LISTS.length]!) }, signal),
      );
  },
};

function ofOneCustomer(name: string, path: string): Attack {
  return {
    name,
    what: `${name} of a customer with ${EVENTS} events, 100 at once`,
    prepare: async (ground) => {
      await requireDeployed(ground, HARMLESS);
      await populate(ground, EVENTS, (index) => ({
        customerId: "c",
        event: "seen",
        properties: { value: `value-${index}` },
      }));
      return (signal) =>
        flood({ lanes: 100, signal }, () => ground.sender.manage({ path: inProject(ground, path) }, signal));
    },
  };
}

const STREAMS: Attack = {
  name: "streams",
  what: "250 streams of events that are kept open, while events come",
  prepare: async (ground) => {
    await requireDeployed(ground, HARMLESS);
    const body = { customerId: "c", event: "seen" };
    return async (signal) => {
      await Promise.all([
        flood({ lanes: 250, signal }, () => ground.sender.manage({ path: inProject(ground, "events/stream") }, signal)),
        flood({ lanes: 2, signal }, () => ground.sender.ingest(ground.key, { path: "/v1/events", body }, signal)),
      ]);
    };
  },
};

export const READS: readonly Attack[] = [
  LISTING,
  ofOneCustomer("explanations", "customers/c/explanation"),
  ofOneCustomer("exports", "customers/c/export"),
  STREAMS,
];
