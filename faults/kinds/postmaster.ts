import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** The postmaster alone. Its backends finish what they are at before they notice, so a statement may still commit. */
export const postmasterKilled: Fault = {
  name: "postmaster killed",
  strike: async ({ cluster }) => kill((await cluster.postmaster()).pid),
};
