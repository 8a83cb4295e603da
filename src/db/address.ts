import { parse } from "pg-connection-string";

/** Session settings by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Settings of each of our sessions, whatever the defaults of the database or its user. Without them, values may be written as texts that the
 * drivers, or another server, misread or cannot read, functions may be created differently from their sources, and transactions or idle
 * connections fail.
 */
export const SESSION: SessionSettings = {
  array_nulls: "on",
  bytea_output: "hex",
  datestyle: "ISO",
  default_transaction_isolation: "read committed",
  extra_float_digits: 1,
  idle_session_timeout: 0,
  intervalstyle: "postgres",
  // The job runner reads its tables through policies.
  row_security: "on",
  standard_conforming_strings: "on",
  transform_null_equals: "off",
};

/** More settings of sessions whose statements and transactions take as long as there is data, or as another session holds a lock. */
export const UNLIMITED: SessionSettings = {
  idle_in_transaction_session_timeout: 0,
  lock_timeout: 0,
  statement_timeout: 0,
};

/** The parameters of an address that have an effect. */
const PARAMETERS = "host port user password ssl sslmode sslrootcert sslcert sslkey sslnegotiation options".split(" ");
/** Parameters of libpq that addresses from elsewhere often have, and that demand nothing which the service would not do. */
const IGNORED = (
  "application_name channel_binding client_encoding connect_timeout gssencmode keepalives keepalives_count keepalives_idle " +
  "keepalives_interval target_session_attrs tcp_user_timeout"
).split(" ");

/** libpq's modes, from no encryption to a certificate that is verified with the host's name; except `allow`, which tries without encryption first. */
const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/**
 * What prevents that a URL is read as it is meant, as the end of a sentence; null if nothing is known. It does not quote the URL, not even
 * its port, which may be a part of a password.
 */
export function urlProblem(url: string): string | null {
  const [, protocol = "", authority = "", rest = ""] = /^(\w+:)\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  const isForPeople = /^https?:$/i.test(protocol);
  if (url.includes("#") && !isForPeople) return "contains #; in a user or password it is written %23";
  if (/%(?![\da-f]{2})/i.test(authority) && !isForPeople)
    return "contains a % on its own; in a user or password it is written %25";
  if (!URL.canParse(url) && !authority.includes("@") && rest.includes("@")) {
    return "cannot be read as a URL; in a user or password @, #, / and ? are written %40, %23, %2F and %3F";
  }
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const port = /:(\d+)$/.exec(place)?.[1];
  if (place.includes(",")) return ONE_HOST;
  if (port !== undefined && !isPort(port)) return PORT;
  if (/^postgres/i.test(protocol) && authority !== "" && /^(:|$)/.test(place)) {
    return "has a user or a port without a host; write postgres://user:password@host:port/name, with a socket's directory as %2Frun%2Fpostgresql";
  }
  return null;
}

const ONE_HOST = "must name one host, not a list";
const PORT = "must have a port from 1 to 65535";
const isPort = (text: string) => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

/** What is wrong with a well-formed address, as the end of a sentence; null if nothing is. */
export function addressProblem(url: string): string | null {
  const { searchParams } = new URL(url);
  if (searchParams.get("host")?.includes(",")) return ONE_HOST;
  if (!isPort(searchParams.get("port") || "5432")) return PORT;
  const unknown = [...searchParams.keys()].find((name) => ![...PARAMETERS, ...IGNORED].includes(name));
  // A name of another form may be a part of a password.
  if (unknown !== undefined) {
    const name = /^\w{1,40}$/.test(unknown) ? ` \`${unknown}\`` : "";
    return `has a parameter${name} that has no effect; correct it, or remove it: there are ${PARAMETERS.join(", ")}`;
  }
  const mode = searchParams.get("sslmode");
  if (mode === null) return null;
  if (!SSL_MODES.includes(mode)) return `has the sslmode \`${mode}\`; it is one of ${SSL_MODES.join(", ")}`;
  if (searchParams.get("sslrootcert") === "system" && mode !== "verify-full") {
    return `has the sslmode \`${mode}\` with the system's certificate authorities (sslrootcert=system), which require verify-full`;
  }
  if (mode !== "verify-ca" || searchParams.has("sslrootcert")) return null;
  return "has the sslmode `verify-ca` without sslrootcert, the file of the certificate authority; add it, or use verify-full";
}

/** Where an address leads, in words: host and port, or a socket. */
export function databasePlace(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  const { socket, ...at } = endpoint(
    searchParams.get("host") || decodeURIComponent(hostname),
    searchParams.get("port") || port,
  );
  return socket === null ? `${at.host}:${at.port}` : `the socket ${socket}`;
}

/** Host and port, by libpq's defaults where the address has none, and the file of the socket if the host is a directory. */
function endpoint(givenHost: string | null | undefined, givenPort: string | null | undefined) {
  const host = givenHost || process.env["PGHOST"] || "localhost";
  const port = Number(givenPort || process.env["PGPORT"] || 5432);
  return { host, port, socket: host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : null };
}

/** Whether an address demands TLS, so that a server without it cannot be used. */
export function requiresTls(url: string): boolean {
  const { searchParams } = new URL(url);
  const mode = searchParams.get("sslmode");
  return mode === null ? searchParams.has("sslrootcert") : !/^(disable|prefer)$/.test(mode);
}

/**
 * The address of a database for `pg`, and for libraries that use it: `sslmode` has its meaning in libpq, and sessions have our settings.
 *
 * @param settings more session settings; all of ours take precedence over the `options` in the address
 */
export function withSession(url: string, settings: SessionSettings = {}): string {
  const address = asLibpq(url);
  const given = address.searchParams.get("options");
  const ours = Object.entries({ ...SESSION, ...settings }).map(
    ([name, value]) => `-c ${name}=${String(value).replaceAll(" ", "\\ ")}`,
  );
  address.searchParams.set("options", [...(given === null ? [] : [given]), ...ours].join(" "));
  return address.href;
}

/**
 * An address as options of the driver `postgres`, which would pass every parameter that it does not know to the server; and the session
 * settings in the address.
 *
 * @throws the error of Node.js if a certificate file cannot be read
 */
export function driverOptions(url: string): { address: object; settings: string | undefined } {
  const given = parse(asLibpq(url).href);
  const { user, password, database, ssl = false, sslmode, sslnegotiation, options } = given;
  const { host, port, socket } = endpoint(given.host, given.port);
  // As lists, which its types do not have: the driver would split an IPv6 address at its colons.
  const place = socket === null ? { host: [host], port: [port] } : { path: socket };
  // The driver continues without encryption only if it knows this mode.
  const encryption = { ssl: sslmode === "prefer" ? sslmode : ssl, ...(sslnegotiation && { sslnegotiation }) };
  return { address: { ...place, user, password, database, ...encryption }, settings: options };
}

function asLibpq(url: string): URL {
  const address = new URL(url);
  address.searchParams.set("uselibpqcompat", "true");
  // Each part of the service sets its own name.
  address.searchParams.delete("application_name");
  if (address.searchParams.get("sslrootcert") === "system") {
    // Use the authorities that Node.js trusts.
    address.searchParams.delete("sslrootcert");
    address.searchParams.set("sslmode", "verify-full");
  }
  return address;
}
