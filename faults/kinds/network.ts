import type { Relay } from "../stage/relay.js";
import type { Fault, Target } from "./fault.js";

/** Cuts every connection to the database, whatever is in transit. */
export const connectionsCut: Fault = {
  name: "database connections cut",
  strike: async ({ network }) => network.cut(),
};

export const networkSilent: Fault = {
  name: "database unreachable",
  strike: (target) => silence(target.network, target),
};

/** Nothing passes for a while, in either direction; then the connections are cut. */
export async function silence(network: Relay, { random, signal }: Pick<Target, "random" | "signal">): Promise<void> {
  await network.hold(random.between(300, 3_000), signal);
  network.cut();
}
