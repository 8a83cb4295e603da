/** Thousands of webhooks, each of which receives all emissions. */
import { startReceiver } from "../../bench/lib/children.js";
import { flood, untilAborted } from "../flood.js";
import { HARMLESS } from "../models.js";
import type { Attack } from "./attack.js";
import { inProject, requireDeployed, sendBatch, type Event } from "./project.js";

const LANES = 16;
const EVENTS = 1_000;

interface WebhooksOptions {
  count: number;
  /** Path at which the receiver answers 204, or never. */
  path: "/fine" | "/hang";
}

function webhooks(name: string, what: string, { count, path }: WebhooksOptions): Attack {
  return {
    name,
    what: `${count} webhooks ${what}, and ${EVENTS} events`,
    prepare: async (ground) => {
      await requireDeployed(ground, HARMLESS);
      const { sender, stage } = ground;
      return async (signal) => {
        const receiver = await startReceiver({ url: stage.databaseUrl, useRoles: true });
        const body = { url: `${receiver.ready}${path}`, eventTypes: ["*"] };
        const create = () => sender.manage({ method: "POST", path: inProject(ground, "webhooks"), body }, signal);
        try {
          await flood({ lanes: LANES, count, signal }, create);
          const customers = Array.from({ length: EVENTS }, (_, n): Event => ({ customerId: `c${n}`, event: "seen" }));
          await sendBatch(ground, customers, signal);
          await untilAborted(signal);
        } finally {
          await receiver.stop();
        }
      };
    },
  };
}

export const WEBHOOKS: readonly Attack[] = [
  webhooks("webhooks", "to a receiver that takes all", { count: 2_000, path: "/fine" }),
  webhooks("hanging-webhooks", "to a receiver that never answers", { count: 2_000, path: "/hang" }),
  webhooks("many-webhooks", "to a receiver that takes all", { count: 3_000, path: "/fine" }),
];
