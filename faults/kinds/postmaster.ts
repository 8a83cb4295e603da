import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** The postmaster alone. Its backends finish what they are at before they notice, so a statement may still commit. */
export const postmasterKilled: Fault = {
  name: "postmaster killed",
  strike: async ({ server }) => kill((await server.postmaster()).pid),
};
