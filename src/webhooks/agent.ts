import { readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import os from "node:os";
import { Agent, buildConnector } from "undici";
import { whyNotPublic, RefusedAddressError, type Resolve, resolveHost } from "./address.js";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** How deliveries introduce themselves. */
export const USER_AGENT = `svc-webhooks/${version}`;

/** A connection that takes longer to open will hardly answer in the time a delivery has. */
const CONNECT_MS = 10_000;
/** Less than the 5 s after which Node.js receivers close idle connections; where a receiver names its own time, that counts. */
const KEEP_ALIVE_MS = 4_000;
/** However long a receiver would keep idle connections. */
const KEEP_ALIVE_MS_MAX = 60_000;
/** A connection serves no longer, so that a name which points elsewhere by then is noticed under constant load, too. */
const CONNECTION_MS = 5 * 60_000;

export interface AgentOptions {
  /** Private, loopback and other special addresses may be reached: development, or receivers in one's own network. */
  allowPrivate: boolean;
  /** How names are resolved, once per connection. */
  resolve?: Resolve;
  /** The addresses of this machine: by a public one of them, what its firewall keeps from others would be reached. */
  ownAddresses?: () => readonly string[];
}

/** Why an address must not be dialled, or null. */
type Refuse = (address: string) => string | null;

/**
 * The HTTP client of deliveries. It keeps connections for reuse, follows no redirects and knows no proxies. A name is resolved
 * once per connection, the addresses found are checked, and those very addresses are dialled: a name that means something else a
 * moment later (DNS rebinding) gains nothing. A refused address fails the request with a RefusedAddressError.
 */
export function createAgent(options: AgentOptions): Agent {
  const { allowPrivate, resolve = resolveHost, ownAddresses = addressesOfInterfaces } = options;
  const refuse: Refuse = (address) => {
    if (allowPrivate) return null;
    return whyNotPublic(address) ?? (ownAddresses().includes(address) ? "this machine" : null);
  };
  const dial = buildConnector({ timeout: CONNECT_MS, lookup: checkedLookup(resolve, refuse) });
  const connect: buildConnector.connector = (target, callback) => {
    // Sockets look up names only, so an address in the URL is checked here.
    const reason = isIP(target.hostname) === 0 ? null : refuse(target.hostname);
    if (reason === null) dial(target, callback);
    else callback(refused(target.hostname, [reason]), null);
  };
  return new Agent({
    connect,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    clientTtl: CONNECTION_MS,
    pipelining: 1,
  });
}

/** In the form that sockets call: the addresses of a name that may be dialled. */
function checkedLookup(resolve: Resolve, refuse: Refuse): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolve(hostname)
      .then((found) => {
        const reasons = found.map(({ address }) => refuse(address));
        const allowed = found.filter((_, index) => reasons[index] === null);
        const first = allowed[0];
        const refusals = reasons.filter((reason) => reason !== null);
        if (first === undefined) throw refused(hostname, refusals);
        return { first, allowed };
      })
      .then(
        ({ first, allowed }) => {
          if (lookupOptions.all === true) callback(null, allowed);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error as NodeJS.ErrnoException, []),
      );
  };
}

/** Name servers, URLs and interfaces write an address alike, so that texts can be compared. */
function addressesOfInterfaces(): string[] {
  return Object.values(os.networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}

function refused(hostname: string, reasons: readonly string[]): RefusedAddressError {
  const why = [...new Set(reasons)].join(", ") || "no address";
  return new RefusedAddressError(
    `${hostname} is not a public address (${why}); set SVC_WEBHOOK_ALLOW_PRIVATE=1 to deliver there`,
  );
}
