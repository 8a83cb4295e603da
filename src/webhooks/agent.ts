import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import { RefusedAddressError, refusal } from "./address.js";
import { resolveHost, type Resolve } from "./resolve.js";

/** A connection that takes longer to open will hardly answer in the time a delivery has. */
const CONNECT_MS = 10_000;
/** Less than the 5 s after which Node.js receivers close idle connections; where a receiver names its own time, that counts. */
const KEEP_ALIVE_MS = 4_000;

export interface AgentOptions {
  /** Private, loopback and other special addresses may be reached: development, or receivers in one's own network. */
  allowPrivate: boolean;
  /** How names are resolved, once per connection. */
  resolve?: Resolve;
}

/**
 * The HTTP client of deliveries. It keeps connections for reuse and follows no redirects. A name is resolved once per
 * connection, the addresses found are checked, and those very addresses are dialled: a name that means something else a moment
 * later (DNS rebinding) gains nothing. A refused address fails the request with a RefusedAddressError.
 */
export function createAgent(options: AgentOptions): Agent {
  const dial = buildConnector({
    timeout: CONNECT_MS,
    lookup: checkedLookup(options.resolve ?? resolveHost, options.allowPrivate),
  });
  const connect: buildConnector.connector = (target, callback) => {
    // Sockets look up names only, so an address in the URL is checked here.
    const reason = options.allowPrivate || isIP(target.hostname) === 0 ? null : refusal(target.hostname);
    if (reason === null) dial(target, callback);
    else callback(refused(target.hostname, [reason]), null);
  };
  return new Agent({ connect, keepAliveTimeout: KEEP_ALIVE_MS, pipelining: 1 });
}

/** In the form that sockets call: the addresses of a name that may be dialled. */
function checkedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolve(hostname)
      .then((found) => {
        const allowed = allowPrivate ? found : found.filter(({ address }) => refusal(address) === null);
        const first = allowed[0];
        if (first === undefined)
          throw refused(
            hostname,
            found.map(({ address }) => refusal(address) ?? "no address"),
          );
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

function refused(hostname: string, reasons: readonly string[]): RefusedAddressError {
  const why = [...new Set(reasons)].join(", ");
  return new RefusedAddressError(
    `${hostname} is not a public address (${why}); set SVC_WEBHOOK_ALLOW_PRIVATE=1 to deliver there`,
  );
}
