import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Azure's metadata and platform endpoint: the one such address that lies in public space. */
const PLATFORM_ADDRESSES = new Set(["168.63.129.16"]);

/** All that is assigned for global unicast in IPv6; special ranges inside it are refused by name. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Of an interface identifier whose other half is an IPv4 address (ISATAP, RFC 5214): its fifth and sixth part. */
const ISATAP = { fifth: new Set([0x0000, 0x0200]), sixth: 0x5efe };

const URL_LENGTH_MAX = 2048;

/** An address that webhooks must not reach. */
export class RefusedAddressError extends Error {
  override name = "RefusedAddressError";
  readonly code = "ADDRESS_REFUSED";
}

/**
 * Why webhooks must not reach an IP address, in a word ("loopback", "private", "linkLocal", …), or null where they may. Only
 * public unicast addresses are allowed: cloud metadata services live in link-local, private, shared and reserved ranges.
 * An IPv4 address inside an IPv6 one (mapped, translated, tunnelled) is refused as such: it would be dialled by another way.
 */
export function refusal(address: string): string | null {
  // As sockets read it, too: the library also takes octal and short forms.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return "not an address";
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== "unicast") return range;
  if (PLATFORM_ADDRESSES.has(parsed.toString())) return "metadata";
  if (parsed instanceof ipaddr.IPv4) return null;
  if (!parsed.match(GLOBAL_IPV6)) return "reserved";
  if (parsed.zoneId !== undefined) return "zoned";
  const [, , , , fifth = 0, sixth] = parsed.parts;
  return ISATAP.fifth.has(fifth) && sixth === ISATAP.sixth ? "isatap" : null;
}

/**
 * Why a URL cannot be a webhook's, as a sentence, or null where it can. Names are not resolved here: what they mean is checked
 * whenever a connection is made. The parser has already written decimal, octal and hexadecimal hosts as plain addresses.
 */
export function checkUrl(text: string, options: { allowPrivate: boolean }): string | null {
  if (text.length > URL_LENGTH_MAX) return `The URL is longer than ${URL_LENGTH_MAX} characters.`;
  // The parser drops some of them in silence, so that the text would not show where it leads.
  if (/[\s\p{Cc}]/u.test(text)) return "The URL must not contain spaces, line breaks or control characters.";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return "This is not a URL; write it in full, for example https://example.com/webhooks.";
  if (!/^https?:\/\/[^/\\]/i.test(text)) return "The URL must begin with https:// or http://.";
  if (url.username !== "" || url.password !== "") {
    return "The URL must not contain a user name or password; verify the signature instead.";
  }
  if (url.hash !== "") return "The URL must not contain a fragment (#…): it is never sent.";
  const reason = options.allowPrivate ? null : hostRefusal(url.hostname);
  if (reason !== null) return `Webhooks are not delivered to ${url.hostname} (${reason}).`;
  return null;
}

function hostRefusal(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return refusal(host);
  return isLocalhost(host) ? "loopback" : null;
}

/** The names that mean this machine wherever they are used (RFC 6761). */
export function isLocalhost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}
