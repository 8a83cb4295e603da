import { expect, it } from "vitest";
import {
  codeOf,
  isUnreachable,
  isDataFault,
  isEnvironmental,
  isServerError,
  isTransient,
  isUnavailable,
} from "../../src/db/sqlstate.js";

const raised = (code: string, message: string) => Object.assign(new Error(message), { code });

/** What holds for an error of this kind. */
const NODE_LOST = { code: "08006", unreachable: true, transient: true, unavailable: true, dataFault: false };
const DISK_FULL = { code: "53100", unavailable: true, environmental: true, dataFault: false };

it.each<[what: string, message: string, kind: object]>([
  // Messages of a Citus coordinator while nodes were killed and cut off.
  ["a lost connection", "could not commit transaction for shard 102144 on at least one active node", NODE_LOST],
  ["a lost connection", "postmaster was shut down, exiting", NODE_LOST],
  ["a lost connection", "server closed the connection unexpectedly\n\tThis probably means the server", NODE_LOST],
  ["a lost connection", "connection not open", NODE_LOST],
  ["a full disk", 'could not extend file "base/16384/17010": No space left on device', DISK_FULL],
  ["a full disk", "could not write init file", DISK_FULL],
  ["itself", "cache lookup failed for type 16385", { code: "XX000", unreachable: false, unavailable: false }],
])("an internal error is %s: %s", (_, message, kind) => {
  const error = raised("XX000", message);
  expect({
    ...{ code: codeOf(error), unreachable: isUnreachable(error), transient: isTransient(error) },
    ...{ unavailable: isUnavailable(error), environmental: isEnvironmental(error), dataFault: isDataFault(error) },
  }).toMatchObject(kind);
});

it.each([
  ["28P01", 'password authentication failed for user "svc"'],
  ["28000", 'role "svc" is not permitted to log in'],
  ["3D000", 'database "svc" does not exist'],
])("a server that refuses the service's connection is unavailable, no defect of the service: %s", (code, message) => {
  expect(isUnavailable(raised(code, message))).toBe(true);
});

it.each(["ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "EMFILE", "ENFILE"])(
  "a database whose machine or name is gone, or to which no connection can be opened, cannot be reached: %s",
  (code) => {
    const error = raised(code, `connect ${code}`);
    const kinds = [isUnreachable(error), isTransient(error), isUnavailable(error), isServerError(error)];
    expect(kinds).toEqual([true, true, true, false]);
  },
);
