import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { codeOf } from "../db/sqlstate.js";

/** Azure's metadata and platform endpoint, the only one with a public address. */
const PLATFORM_ADDRESSES = new Set(["168.63.129.16"]);

/** The range for global unicast in IPv6; special ranges inside it are refused by name. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** The fifth and sixth part of an address whose last two parts are an IPv4 address (ISATAP, RFC 5214). */
const ISATAP = { fifth: new Set([0x0000, 0x0200]), sixth: 0x5efe };

const URL_LENGTH_MAX = 2048;

/** An address that webhooks must not reach. */
export class RefusedAddressError extends Error {
  override name = "RefusedAddressError";
  readonly code = "ADDRESS_REFUSED";
}

/**
 * Why webhooks must not reach an IP address, as a keyword ("loopback", "private", "linkLocal", …); null if they may. Only
 * public unicast addresses are allowed: cloud metadata services use link-local, private, shared and reserved ranges.
 * An IPv6 address that contains an IPv4 address (mapped, translated, tunnelled) is always refused, because it is reached in another way.
 */
export function whyNotPublic(address: string): string | null {
  // It must be valid for sockets, too: the library also accepts octal and short forms.
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
 * Why a URL is not allowed for a webhook, as a sentence; null if it is. Names are not resolved here: their addresses are checked for each
 * connection. The URL parser has already normalized decimal, octal and hexadecimal hosts to plain addresses.
 */
export function checkUrl(text: string, options: { allowPrivate: boolean }): string | null {
  if (text.length > URL_LENGTH_MAX) return `The URL is longer than ${URL_LENGTH_MAX} characters.`;
  // The parser silently drops some of them, so the text would not show the actual destination.
  if (/[\s\p{Cc}]/u.test(text)) return "The URL must not contain spaces, line breaks or control characters.";
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return "This is not a URL; write it in full, for example https://example.com/webhooks.";
  if (!/^https?:\/\/[^/\\]/i.test(text)) return "The URL must begin with https:// or http://.";
  if (url.username !== "" || url.password !== "") {
    return "The URL must not contain a user name or password; verify the signature instead.";
  }
  if (url.hash !== "") return "The URL must not contain a fragment (#…): it is never sent.";
  const reason = options.allowPrivate ? null : hostRefusal(url.hostname);
  return reason === null ? null : `Webhooks are not delivered to ${url.hostname} (${reason}).`;
}

function hostRefusal(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return whyNotPublic(host);
  return isLocalhost(host) ? "loopback" : null;
}

/** The names that mean this machine wherever they are used (RFC 6761). */
function isLocalhost(hostname: string): boolean {
  return /^(.+\.)?localhost\.?$/i.test(hostname);
}

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Finds the addresses of a host name. Rejects if there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** A name server that takes longer counts as unavailable; the delivery is tried again later. */
const QUERY_MS = 2500;
const QUERY_TRIES = 2;

const LOOPBACK: ResolvedAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * The default. Asks the name servers directly: the system's lookup runs on a few shared threads, so a few names whose servers hang would block
 * all other endpoints. The system's lookup is used for names that only it can know: single labels, and names that the name servers do not have
 * (hosts file, search domains).
 */
export async function resolveHost(hostname: string, hostsFile = "/etc/hosts"): Promise<ResolvedAddress[]> {
  if (isLocalhost(hostname)) return LOOPBACK;
  if (!hostname.replace(/\.$/, "").includes(".")) return systemLookup(hostname);
  const resolver = new Resolver({ timeout: QUERY_MS, tries: QUERY_TRIES });
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
  if (addresses.length > 0) return addresses;
  const hung = [v4, v6].find((result) => result.status === "rejected" && serversHang(result.reason));
  if (hung?.status !== "rejected") return systemLookup(hostname);
  const listed = await listedIn(hostsFile, hostname);
  if (listed.length > 0) return listed;
  throw hung.reason;
}

/**
 * The addresses of a name in the hosts file. The name servers of a network without access to others, such as a cluster's, fail for all names that
 * they do not know.
 */
async function listedIn(hostsFile: string, hostname: string): Promise<ResolvedAddress[]> {
  // A machine need not have one.
  const hosts = await readFile(hostsFile, "utf8").catch(() => "");
  const name = hostname.replace(/\.$/, "").toLowerCase();
  return hosts.split("\n").flatMap((line): ResolvedAddress[] => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/);
    const family = isIP(address);
    return names.includes(name) && (family === 4 || family === 6) ? [{ address, family }] : [];
  });
}

/** Whether a name's own servers hang: ours then do, too, or answer ESERVFAIL, and so would the system. */
export function serversHang(error: unknown): boolean {
  return ["ETIMEOUT", "ESERVFAIL"].includes(codeOf(error));
}

/** Running lookups of the system, by name. */
const lookups = new Map<string, Promise<ResolvedAddress[]>>();

/** Concurrent callers share one lookup of a name, so that a name that hangs does not queue a lookup for each of its deliveries. */
function systemLookup(hostname: string): Promise<ResolvedAddress[]> {
  const known = lookups.get(hostname);
  if (known !== undefined) return known;
  const started = inPlace(() => lookup(hostname, { all: true }))
    .then((found) => found.map(({ address, family }): ResolvedAddress => ({ address, family: family === 6 ? 6 : 4 })))
    .finally(() => lookups.delete(hostname));
  lookups.set(hostname, started);
  return started;
}

/** Half of the threads of a process, which decompress bodies and hash passwords, too. */
const SYSTEM_LOOKUPS_MAX = 2;
let running = 0;
const waiting: (() => void)[] = [];

/** Runs a lookup of the system once fewer than SYSTEM_LOOKUPS_MAX others run: a name whose servers hang holds a thread for ten seconds. */
async function inPlace<T>(look: () => Promise<T>): Promise<T> {
  if (running >= SYSTEM_LOOKUPS_MAX) await new Promise<void>((enter) => waiting.push(enter));
  else running += 1;
  try {
    return await look();
  } finally {
    const enter = waiting.shift();
    if (enter === undefined) running -= 1;
    else enter();
  }
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  return result.status === "fulfilled" ? result.value.map((address) => ({ address, family })) : [];
}
