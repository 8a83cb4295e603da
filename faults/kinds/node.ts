/** Kills processes of a node, while the coordinator keeps running. */
import { killBackend } from "./backend.js";
import { killAll } from "./cluster.js";
import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Its backends finish their work: a statement may still commit although the coordinator got no answer. */
export const nodePostmasterKilled: Fault = {
  name: "postmaster of a node killed",
  strike: async ({ nodes, random }) => kill((await random.pick(nodes).server.postmaster()).pid),
};

export const nodeKilled: Fault = {
  name: "all of a node killed",
  strike: ({ nodes, random }) => killAll([random.pick(nodes).server]),
};

/** Kills a backend that works for the coordinator. The node's postmaster then ends all others and recovers. */
export const nodeBackendKilled: Fault = {
  name: "one backend of a node killed",
  strike: ({ nodes, random }) => killBackend(random.pick(nodes).server, /^citus_/, random),
};

export const coordinatorAndNodeKilled: Fault = {
  name: "coordinator and a node killed",
  strike: ({ server, nodes, random }) => killAll([server, random.pick(nodes).server]),
};
