import type { Context } from "koa";
import { describe, expect, it } from "vitest";
import { clientAddress, clientNetwork } from "../../src/http/request/client-address.js";

/** A request for which Koa reports this address, over a connection from the other one. */
const from = (ip: string, remoteAddress?: string) => ({ ip, req: { socket: { remoteAddress } } }) as unknown as Context;

describe("the client", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7"],
    ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:ffff::1", "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80::1", "fe80::/64"],
  ])("%s has the address %s and counts as %s", (ip, address, network) => {
    expect(clientAddress(from(ip))).toBe(address);
    expect(clientNetwork(from(ip))).toBe(network);
  });

  it.each(["unknown", "_hidden", "192.0.2.7:1234", "x\r\nSet-Cookie: a=b", ""])(
    "is the peer of the connection where a proxy sends %j",
    (forwarded) => {
      expect(clientAddress(from(forwarded, "::ffff:192.0.2.9"))).toBe("192.0.2.9");
    },
  );

  it("is unknown once the connection is gone", () => {
    expect(clientAddress(from("", undefined))).toBe("unknown");
    expect(clientNetwork(from("", undefined))).toBe("unknown");
  });
});
