import { readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import os from "node:os";
import { Agent, buildConnector } from "undici";
import { codeOf } from "../db/sqlstate.js";
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
  const find = allowPrivate ? resolve : publicOf(resolve, refuse);
  const dial = buildConnector({ timeout: CONNECT_MS, lookup: lookupBy(find) });
  const connect: buildConnector.connector = (target, callback) => {
    // Sockets look up names only, so an address in the URL is checked here.
    const reason = isIP(target.hostname) === 0 ? null : refuse(target.hostname);
    if (reason === null) dial(target, callback);
    else callback(refused(target.hostname, reason), null);
  };
  return new Agent({
    connect,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    clientTtl: CONNECTION_MS,
    pipelining: 1,
  });
}

/** Finds the addresses of a name that may be dialled. Whether there is none, or none of them may, is not told: a tenant could find out by it which names our network has. */
function publicOf(resolve: Resolve, refuse: Refuse): Resolve {
  return async (hostname) => {
    const found = await resolve(hostname).catch((error: unknown) => {
      if (codeOf(error) === "ETIMEOUT") throw error;
      return [];
    });
    const allowed = found.filter(({ address }) => refuse(address) === null);
    if (allowed.length > 0) return allowed;
    throw new RefusedAddressError(`no public address was found for ${hostname}`);
  };
}

/** In the form that sockets call. */
function lookupBy(find: Resolve): LookupFunction {
  return (hostname, { all }, callback) => {
    find(hostname).then(
      (found) => {
        if (all === true) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, []),
    );
  };
}

/** Name servers, URLs and interfaces write an address alike, so that texts can be compared. */
function addressesOfInterfaces(): string[] {
  return Object.values(os.networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}

function refused(address: string, reason: string): RefusedAddressError {
  return new RefusedAddressError(
    `${address} is not a public address (${reason}); set SVC_WEBHOOK_ALLOW_PRIVATE=1 to deliver there`,
  );
}
