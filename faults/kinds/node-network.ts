/** A node that goes on, and that the coordinator cannot reach. */
import type { Fault } from "./fault.js";
import { pause } from "./paused.js";

export const nodeCut: Fault = {
  name: "connections to a node cut",
  strike: async ({ nodes, random }) => random.pick(nodes).network.cut(),
};

/** Nothing reaches it, nor comes from it, for a while; then the connections are gone. */
export const nodeSilent: Fault = {
  name: "a node unreachable",
  strike: async ({ nodes, random, signal }) => {
    const { network } = random.pick(nodes);
    await network.hold(random.between(300, 3_000), signal);
    network.cut();
  },
};

export const nodePaused: Fault = {
  name: "a node paused",
  strike: (target) => pause(target.random.pick(target.nodes).server, target),
};
