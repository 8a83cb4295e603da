import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { driverOptions, withSession } from "../../src/db/address.js";
import { useDirectory } from "../support/directory.js";

const directory = await useDirectory();
const authority = path.join(directory, "authority.pem");
await writeFile(authority, "-----BEGIN CERTIFICATE-----\n");

const address = (url: string) => driverOptions(url).address;

it.each<[parameters: string, ssl: unknown]>([
  ["", false],
  ["?sslmode=disable", false],
  // Like libpq: encrypted, without verification of the certificate.
  ["?sslmode=require", { rejectUnauthorized: false }],
  // Or unencrypted, if the server does not support it.
  ["?sslmode=prefer", "prefer"],
  ["?sslmode=verify-full", {}],
  ["?sslmode=verify-full&sslrootcert=system", {}],
  ["?sslrootcert=system", {}],
  ["?sslmode=verify-full&sslrootcert=AUTHORITY", { ca: "-----BEGIN CERTIFICATE-----\n" }],
  [
    "?sslmode=require&sslrootcert=AUTHORITY",
    { ca: "-----BEGIN CERTIFICATE-----\n", checkServerIdentity: expect.any(Function) as unknown },
  ],
])("both drivers encrypt like libpq if the address ends in %j", (parameters, ssl) => {
  expect(address(`postgres://svc@db/svc${parameters.replace("AUTHORITY", authority)}`)).toMatchObject({ ssl });
});

it("a host is a name, an IPv6 address or the directory of a socket, and libpq's parameters are not sent to the server", () => {
  expect(
    driverOptions("postgres://svc:w%40rd@db:6000/svc?channel_binding=require&keepalives=1&gssencmode=disable"),
  ).toEqual({
    address: { host: ["db"], port: [6000], user: "svc", password: "w@rd", database: "svc", ssl: false },
    settings: undefined,
  });
  expect(address("postgres://svc@[::1]/svc")).toMatchObject({ host: ["::1"], port: [5432] });
  expect(address("postgres:///svc?host=/run/postgresql")).toMatchObject({ path: "/run/postgresql/.s.PGSQL.5432" });
});

it("omitted parts of an address come from the environment, as in psql", () => {
  vi.stubEnv("PGHOST", "db");
  vi.stubEnv("PGPORT", "6000");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(address("postgres:///svc")).toMatchObject({ host: ["db"], port: [6000] });
  expect(address("postgres://other/svc?sslmode=require&sslnegotiation=direct&application_name=mine")).toEqual({
    ...{ host: ["other"], port: [6000], user: "", password: "", database: "svc" },
    ...{ ssl: { rejectUnauthorized: false }, sslnegotiation: "direct" },
  });
});

it("the service's session settings come after those of the address", () => {
  const { searchParams } = new URL(
    withSession("postgres://db/svc?options=-c%20datestyle%3DGerman", { role: "svc_http" }),
  );
  expect(searchParams.get("options")).toMatch(/^-c datestyle=German .*-c datestyle=ISO .*-c role=svc_http$/);
});
