import ipaddr from "ipaddr.js";
import type { Context } from "koa";
import { bearerToken } from "./credentials.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Prefix length of the IPv6 network of one subscriber, who can change the address within it at will. */
const SUBSCRIBER_BITS = 64;

/**
 * The IP address of a request's client, in front of the trusted proxies (SVC_TRUSTED_PROXIES), without port and zone; a mapped IPv4 address is
 * shown as IPv4. "unknown" if the connection is closed.
 */
export function clientAddress(ctx: Context): string {
  return addressOf(ctx)?.toString() ?? "unknown";
}

/** The key under which a client's requests are counted: its IPv4 address, or its IPv6 network, for example `2001:db8::/64`. */
export function clientNetwork(ctx: Context): string {
  const address = addressOf(ctx);
  return address === null ? "unknown" : subscriberOf(address);
}

/** The network of one subscriber: an IPv4 address itself, or the network of an IPv6 address. Any other text is returned unchanged. */
export function subscriberNetwork(address: string): string {
  return ipaddr.isValid(address) ? subscriberOf(parse(address)) : address;
}

/** The key under which a request is counted: its credential, or its network if it has none. */
export function clientKey(ctx: Context): string {
  return bearerToken(ctx) ?? clientNetwork(ctx);
}

function addressOf({ ip, req }: Context): Address | null {
  // A proxy can send something other than an address.
  const address = ipaddr.isValid(ip) ? ip : (req.socket.remoteAddress ?? "");
  return ipaddr.isValid(address) ? parse(address) : null;
}

function subscriberOf(address: Address): string {
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${SUBSCRIBER_BITS}`);
  return `${network.toString()}/${SUBSCRIBER_BITS}`;
}

function parse(text: string): Address {
  return ipaddr.process(text.replace(/%.*$/, ""));
}
