import { parse } from "pg-connection-string";

/** Settings of a session, by name; without white space. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * What each session of ours begins with, whatever the database or its user has as a default. Without these, values are written as texts that
 * the drivers, or another server, read as something else or not at all, and functions are not made as their sources say.
 */
export const SESSION: SessionSettings = {
  array_nulls: "on",
  bytea_output: "hex",
  datestyle: "ISO",
  extra_float_digits: 1,
  intervalstyle: "postgres",
  // The job runner reads its tables by policies.
  row_security: "on",
  standard_conforming_strings: "on",
  transform_null_equals: "off",
};

/** libpq's modes, from no encryption to a certificate that is checked with the name of the host; none that tries without encryption first. */
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/** What is wrong with an address beside its form; null where it can be tried. */
export function addressProblem(url: string): string | null {
  const { searchParams } = new URL(url);
  const mode = searchParams.get("sslmode");
  if (mode === null) return null;
  if (!SSL_MODES.includes(mode)) return `has the sslmode \`${mode}\`; it is one of ${SSL_MODES.join(", ")}`;
  if (searchParams.get("sslrootcert") === "system" && mode !== "verify-full") {
    return `has the sslmode \`${mode}\` with the authorities of the system (sslrootcert=system), which takes verify-full`;
  }
  if (mode !== "verify-ca" || searchParams.has("sslrootcert")) return null;
  return "has the sslmode `verify-ca` without sslrootcert, which names the file of the authority; add it, or use verify-full";
}

/**
 * The address of a database for `pg`, and for libraries that connect by it: with `sslmode` as libpq has it, and with our session.
 *
 * @param settings more of the session's; all of ours win over those that the address has in its `options`
 */
export function withSession(url: string, settings: SessionSettings = {}): string {
  const address = asLibpq(url);
  const given = address.searchParams.get("options");
  const ours = Object.entries({ ...SESSION, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  address.searchParams.set("options", [...(given === null ? [] : [given]), ...ours].join(" "));
  return address.href;
}

/**
 * An address as options of the driver `postgres`, which would ask the server for every parameter of libpq that it does not know; and the
 * settings that the address gives its sessions.
 *
 * @throws what Node.js says of a file of certificates that cannot be read
 */
export function driverOptions(url: string): { address: object; settings: string | undefined } {
  const {
    host,
    port,
    user,
    password,
    database,
    ssl = false,
    sslmode,
    sslnegotiation,
    options,
  } = parse(asLibpq(url).href);
  const [at, on] = [host || process.env["PGHOST"] || "localhost", Number(port || process.env["PGPORT"] || 5432)];
  // In lists, which its types leave out: it would divide an address of IPv6 at its colons.
  const place = at.startsWith("/") ? { path: `${at}/.s.PGSQL.${on}` } : { host: [at], port: [on] };
  // It goes on without encryption only where it is told of the mode.
  const encryption = { ssl: sslmode === "prefer" ? sslmode : ssl, ...(sslnegotiation && { sslnegotiation }) };
  return { address: { ...place, user, password, database, ...encryption }, settings: options };
}

function asLibpq(url: string): URL {
  const address = new URL(url);
  address.searchParams.set("uselibpqcompat", "true");
  // Each part of the service has its own name.
  address.searchParams.delete("application_name");
  if (address.searchParams.get("sslrootcert") === "system") {
    // Those that Node.js trusts.
    address.searchParams.delete("sslrootcert");
    address.searchParams.set("sslmode", "verify-full");
  }
  return address;
}
