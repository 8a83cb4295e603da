import { expect, it } from "vitest";
import {
  codeOf,
  isUnreachable,
  isDataFault,
  isEnvironmental,
  isTransient,
  isUnavailable,
} from "../../src/db/sqlstate.js";

const raised = (code: string, message: string) => Object.assign(new Error(message), { code });

// Messages of a Citus coordinator while nodes were killed and cut off.
it.each([
  "could not commit transaction for shard 102144 on at least one active node",
  "postmaster was shut down, exiting",
  "server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally",
  "connection not open",
])("a node lost during a statement is a lost connection: %s", (message) => {
  const error = raised("XX000", message);
  expect([codeOf(error), isUnreachable(error), isTransient(error), isUnavailable(error), isDataFault(error)]).toEqual([
    "08006",
    true,
    true,
    true,
    false,
  ]);
});

it.each([
  ["a node without room", 'could not extend file "base/16384/17010": No space left on device'],
  ["a server without room for who connects", "could not write init file"],
])("%s is a full disk, not a fault of the data", (_, message) => {
  const error = raised("XX000", message);
  expect([codeOf(error), isUnavailable(error), isEnvironmental(error), isDataFault(error)]).toEqual([
    "53100",
    true,
    true,
    false,
  ]);
});

it.each([
  ["28P01", 'password authentication failed for user "svc"'],
  ["28000", 'role "svc" is not permitted to log in'],
  ["3D000", 'database "svc" does not exist'],
])(
  "a server that refuses the service's connection is unavailable, not a defect of the service: %s",
  (code, message) => {
    expect(isUnavailable(raised(code, message))).toBe(true);
  },
);

it("any other internal error stays one", () => {
  const error = raised("XX000", "cache lookup failed for type 16385");
  expect([codeOf(error), isUnreachable(error), isUnavailable(error)]).toEqual(["XX000", false, false]);
});
