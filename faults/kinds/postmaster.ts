import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Kills the postmaster alone. Its backends finish their work before they notice, so a statement may still commit. */
export const postmasterKilled: Fault = {
  name: "postmaster killed",
  strike: async ({ server }) => kill((await server.postmaster()).pid),
};
