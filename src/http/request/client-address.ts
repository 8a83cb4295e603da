import ipaddr from "ipaddr.js";
import type { Context } from "koa";
import { bearerToken } from "./credentials.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What one subscriber has of IPv6, and so may change at will. */
const SUBSCRIBER_BITS = 64;

/**
 * The network address that a request came from, behind as many proxies as are trusted (SVC_TRUSTED_PROXIES): without port and zone, and
 * IPv4 as such. "unknown" where the connection is gone.
 */
export function clientAddress(ctx: Context): string {
  return addressOf(ctx)?.toString() ?? "unknown";
}

/** What stands for the client where requests are counted: its IPv4 address, or its network of IPv6, for example `2001:db8::/64`. */
export function clientNetwork(ctx: Context): string {
  const address = addressOf(ctx);
  return address === null ? "unknown" : subscriberOf(address);
}

/** What one subscriber has: of an IPv4 address that alone, of one of IPv6 its network. What is no address is answered as it is. */
export function networkOf(address: string): string {
  return ipaddr.isValid(address) ? subscriberOf(parse(address)) : address;
}

/** Whose request it is, where requests are counted: its credential's, or its network's where it has none. */
export function clientOf(ctx: Context): string {
  return bearerToken(ctx) ?? clientNetwork(ctx);
}

function addressOf({ ip, req }: Context): Address | null {
  // A proxy may name something else than an address.
  const named = ipaddr.isValid(ip) ? ip : (req.socket.remoteAddress ?? "");
  return ipaddr.isValid(named) ? parse(named) : null;
}

function subscriberOf(address: Address): string {
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${SUBSCRIBER_BITS}`);
  return `${network.toString()}/${SUBSCRIBER_BITS}`;
}

function parse(text: string): Address {
  return ipaddr.process(text.replace(/%.*$/, ""));
}
