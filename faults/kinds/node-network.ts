/** A node that keeps running, but that the coordinator cannot reach. */
import type { Fault } from "./fault.js";
import { silence } from "./network.js";
import { pause } from "./paused.js";

export const nodeCut: Fault = {
  name: "connections to a node cut",
  strike: async ({ nodes, random }) => random.pick(nodes).network.cut(),
};

export const nodeSilent: Fault = {
  name: "a node unreachable",
  strike: (target) => silence(target.random.pick(target.nodes).network, target),
};

/** Longer than a worker can be silent. */
const AWAY_MS = 40_000;

/** Refuses connections to a node for long, as if its machine were restarted. */
export const nodeAway: Fault = {
  name: `a node away for ${AWAY_MS / 1_000} s`,
  strike: ({ nodes, random, signal }) => random.pick(nodes).network.refuse(AWAY_MS, signal),
};

export const nodePaused: Fault = {
  name: "a node paused",
  strike: (target) => pause(target.random.pick(target.nodes).server, target),
};
