import { readFileSync } from "node:fs";
import { isIP, type LookupFunction, type Socket } from "node:net";
import os from "node:os";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { serversHang, whyNotPublic, RefusedAddressError, type Resolve, resolveHost } from "./address.js";

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The User-Agent of deliveries. */
export const USER_AGENT = `svc-webhooks/${version}`;

/** A receiver whose connection takes longer to open will hardly answer within the time of a delivery. */
const CONNECT_MS = 10_000;
/** Less than the 5 s after which Node.js receivers close idle connections; a receiver's own Keep-Alive timeout takes precedence. */
const KEEP_ALIVE_MS = 4_000;
/** The upper limit of a receiver's Keep-Alive timeout. */
const KEEP_ALIVE_MS_MAX = 60_000;
/**
 * With more connections than this, each is closed after its request. Idle ones of many receivers would use up the files that the process may open,
 * and its memory: each takes some 40 KB.
 */
const KEPT_CONNECTIONS_MAX = 2_048;
/**
 * The most bytes that a receiver may send for one request. The limits of headers and bodies do not count all of them: the reason behind a status,
 * for example, can be endless.
 */
const RECEIVED_BYTES_MAX = 512 * 1024;
/** The lifetime of a connection, so that a changed address of a name is noticed even under constant load. */
const CONNECTION_MS = 5 * 60_000;

export interface AgentOptions {
  /** Whether private, loopback and other special addresses may be reached, for development or receivers in one's own network. */
  allowPrivate: boolean;
  /** Resolves a name, once per connection. */
  resolve?: Resolve;
  /** The addresses of this machine. They are refused, because through a public one, ports that its firewall blocks would be reachable. */
  ownAddresses?: () => readonly string[];
  /** With more connections than this, each is closed after its request. */
  keptMax?: number;
}

/** Returns why an address must not be dialled, or null. */
type Refuse = (address: string) => string | null;

/**
 * The HTTP client of deliveries. It reuses connections, and does not follow redirects or use proxies. For each connection, a name is resolved
 * once, its addresses are checked, and exactly these are dialled, so that changing the name in between (DNS rebinding) has no effect. A request
 * to a refused address fails with a RefusedAddressError.
 */
export function createAgent(options: AgentOptions): Agent {
  const { allowPrivate, resolve = resolveHost, ownAddresses = addressesOfInterfaces } = options;
  const { keptMax = KEPT_CONNECTIONS_MAX } = options;
  const refuse: Refuse = (address) => {
    if (allowPrivate) return null;
    return whyNotPublic(address) ?? (ownAddresses().includes(address) ? "this machine" : null);
  };
  const find = allowPrivate ? resolve : publicOf(resolve, refuse);
  const dial = buildConnector({ timeout: CONNECT_MS, lookup: lookupBy(find) });
  const open = new Set<Socket>();
  const connect: buildConnector.connector = (target, callback) => {
    // Sockets look up names only, so an address in the URL is checked here.
    const reason = isIP(target.hostname) === 0 ? null : refuse(target.hostname);
    if (reason !== null) return callback(refused(target.hostname, reason), null);
    dial(target, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error !== null) return callback(error, null);
      limitAnswers(socket);
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      callback(null, socket);
    });
  };
  return new DeliveryAgent(() => open.size > keptMax, {
    connect,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    clientTtl: CONNECTION_MS,
    pipelining: 1,
  });
}

/** Ends a connection that receives more than RECEIVED_BYTES_MAX while nothing is sent: requests on it follow each other. */
function limitAnswers(socket: Socket): void {
  let sent = 0;
  let receivedBefore = 0;
  socket.on("readable", () => {
    if (socket.bytesWritten !== sent) {
      sent = socket.bytesWritten;
      receivedBefore = socket.bytesRead;
    } else if (socket.bytesRead - receivedBefore > RECEIVED_BYTES_MAX) {
      socket.destroy(new Error(`the receiver sent more than ${RECEIVED_BYTES_MAX / 1024} KiB`));
    }
  });
}

/** Closes connections after their requests while there are too many of them. */
class DeliveryAgent extends Agent {
  constructor(
    private readonly hasTooMany: () => boolean,
    options: Agent.Options,
  ) {
    super(options);
  }

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return super.dispatch({ ...options, reset: this.hasTooMany() }, handler);
  }
}

/**
 * Finds those addresses of a name that may be dialled. The error does not reveal whether the name has no address or only refused ones: a tenant could
 * otherwise find out which names our network has.
 */
function publicOf(resolve: Resolve, refuse: Refuse): Resolve {
  return async (hostname) => {
    const addresses = await resolve(hostname).catch((error: unknown) => {
      if (serversHang(error)) throw error;
      return [];
    });
    const allowed = addresses.filter(({ address }) => refuse(address) === null);
    if (allowed.length > 0) return allowed;
    throw new RefusedAddressError(`no public address was found for ${hostname}`);
  };
}

/** Adapts `find` to the signature that sockets call. */
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

/** Name servers, URLs and interfaces write addresses in the same form, so they can be compared as texts. */
function addressesOfInterfaces(): string[] {
  return Object.values(os.networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}

function refused(address: string, reason: string): RefusedAddressError {
  return new RefusedAddressError(
    `${address} is not a public address (${reason}); set SVC_WEBHOOK_ALLOW_PRIVATE=1 to deliver there`,
  );
}
