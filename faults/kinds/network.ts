import type { Fault } from "./fault.js";

/** Every connection to the database ends in the middle of what it carries. */
export const connectionsCut: Fault = {
  name: "database connections cut",
  strike: async ({ network }) => network.cut(),
};

/** Nothing reaches the database, nor comes from it, for a while; then the connections are gone. */
export const networkSilent: Fault = {
  name: "database unreachable",
  strike: async ({ network, random, signal }) => {
    await network.hold(random.between(300, 3_000), signal);
    network.cut();
  },
};
