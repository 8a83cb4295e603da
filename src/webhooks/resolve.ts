import { lookup, Resolver } from "node:dns/promises";
import { isLocalhost } from "./address.js";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Finds the addresses of a host name. Rejects where there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** Past this, a name server is as good as dead; a delivery is tried again later. */
const QUERY_MS = 2500;
const QUERY_TRIES = 2;

const LOOPBACK: ResolvedAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * The default. Asks the name servers directly: the system's lookup runs on a few shared threads, and a handful of names whose
 * servers hang would hold back every other endpoint. The system's lookup serves the names that only it may know: single labels,
 * and what the name servers do not have (hosts file, search domains).
 */
export const resolveHost: Resolve = async (hostname) => {
  if (isLocalhost(hostname)) return LOOPBACK;
  if (!hostname.replace(/\.$/, "").includes(".")) return systemLookup(hostname);
  const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERY_TRIES });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
  if (found.length > 0) return found;
  const timedOut = [v4, v6].find((result) => result.status === "rejected" && codeOf(result.reason) === "ETIMEOUT");
  if (timedOut?.status === "rejected") throw timedOut.reason;
  return systemLookup(hostname);
};

/** The system's lookups under way, by name. */
const lookups = new Map<string, Promise<ResolvedAddress[]>>();

/** Shared by all that ask for a name meanwhile: one that hangs must not queue a lookup for each of its deliveries. */
function systemLookup(hostname: string): Promise<ResolvedAddress[]> {
  const underWay = lookups.get(hostname);
  if (underWay !== undefined) return underWay;
  const started = lookup(hostname, { all: true })
    .then((found) => found.map(({ address, family }): ResolvedAddress => ({ address, family: family === 6 ? 6 : 4 })))
    .finally(() => lookups.delete(hostname));
  lookups.set(hostname, started);
  return started;
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return result.status === "fulfilled" ? result.value.map((address) => ({ address, family })) : [];
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
